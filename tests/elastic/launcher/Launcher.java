import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/**
 * One Elasticsearch node inside this process, set up by {@code CONFIG/elasticsearch.yml} as a server is:
 * {@code Launcher CONFIG [--until-ready]}.
 *
 * <p>Standard error is the node's log. Standard output carries one line, {@code ready}, when the node has joined
 * its cluster and listens. Standard input is the life line: its end, by whatever cause, ends the node.
 * With {@code --until-ready} there is none: the node ends in order as soon as it is ready.
 */
public final class Launcher {
  public static void main(String[] arguments) throws Exception {
    PrintStream announcements = System.out;
    System.setOut(System.err); // taken by the log's console appender below
    boolean untilReady = arguments.length > 1 && arguments[1].equals("--until-ready");
    if (!untilReady) {
      endWithStandardInput();
    }
    LogConfigurator.configureESLogging();
    Environment environment =
        InternalSettingsPreparer.prepareEnvironment(
            Settings.EMPTY, Map.of(), Path.of(arguments[0]), () -> "node");
    LogConfigurator.configureWithoutConfig(environment.settings());
    Node node = new Node(environment, modulesOf(environment));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node), "close-node"));
    node.start();
    announcements.println("ready");
    announcements.flush();
    if (untilReady) {
      System.exit(0);
    }
    Thread.currentThread().join();
  }

  private static PluginsLoader modulesOf(Environment environment) throws IOException {
    var bundles = PluginsLoader.loadModulesBundles(environment.modulesDir(), false);
    return PluginsLoader.createPluginsLoader(bundles, Set.of(), Map.of(), false);
  }

  /** Whoever started the node holds the other end of the pipe; the system closes it even when they are killed. */
  private static void endWithStandardInput() {
    Thread watcher =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {}
              } catch (IOException broken) {
                System.err.println("the life line broke: " + broken);
              }
              Runtime.getRuntime().halt(0);
            },
            "life-line");
    watcher.setDaemon(true);
    watcher.start();
  }

  private static void close(Node node) {
    try {
      node.close();
    } catch (IOException failure) {
      failure.printStackTrace();
    }
  }
}
