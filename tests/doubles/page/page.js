"use strict";
// What is on the screen comes whole from the server each time that something changed there.

const at = (id) => document.getElementById(id);
const where = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
let platforms = [];
let changes = null;

function made(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function address(path, more = {}) {
  return `/${path}?${new URLSearchParams({ ...where, ...more })}`;
}

async function act(verb, fields, files = []) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...where, ...fields })) form.append(name, value);
  for (const file of files) form.append("files", file);
  const answer = await fetch(address(`do/${verb}`), { method: "POST", body: form });
  const said = answer.ok ? {} : await answer.json().catch(() => ({ error: `That did not work (${answer.status}).` }));
  at("error").hidden = answer.ok;
  at("error").textContent = said.error || "";
  return answer.ok;
}

function go(changed) {
  Object.assign(where, changed);
  history.replaceState(null, "", `#${new URLSearchParams(where)}`);
  draw();
}

function files(message) {
  return message.files.map((file) => {
    const url = address("content", { message: message.id, number: file.number });
    return file.type.startsWith("image/")
      ? made("img", { src: url, alt: file.name })
      : made("a", { href: url, textContent: `${file.name} (${file.size.toLocaleString()} bytes)` });
  });
}

function buttons(message) {
  return message.buttons.map((button) =>
    button.url
      ? made("a", { href: button.url, textContent: button.label })
      : made("button", {
          type: "button",
          className: button.style,
          textContent: button.label,
          onclick: () => act("click", { message: message.id, button: button.action }),
        }),
  );
}

function own(message) {
  if (message.author !== where.person) return "";
  const edit = async () => {
    const text = prompt("Your message", message.source);
    if (text !== null) await act("edit", { message: message.id, text });
  };
  const gone = () => act("delete", { message: message.id });
  return made("span", { className: "own" },
    made("button", { type: "button", className: "link", textContent: "Edit", onclick: edit }),
    made("button", { type: "button", className: "link", textContent: "Delete", onclick: gone }));
}

function item(message, inThread) {
  const body = made("div", { className: "body", innerHTML: message.html });
  for (const link of body.querySelectorAll("a")) Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
  const classes = ["private", "ours", "streaming"].filter((name) => message[name]);
  const listed = made("li", { className: classes.join(" "), id: `m${message.id}` });
  if (message.private) listed.append(made("div", { className: "only", textContent: "Only you see this" }));
  const who = made("div", {}, made("span", { className: "who", textContent: message.name }));
  if (message.ours) who.append(made("span", { className: "tag", textContent: "app" }));
  if (message.edited) who.append(made("span", { className: "tag", textContent: "edited" }));
  if (message.ours) who.append(made("span", { className: "tag", textContent: `version ${message.versions}` }));
  listed.append(who);
  if (message.tasks.length) {
    listed.append(made("ul", { className: "tasks" }, ...message.tasks.map((task) => made("li", { textContent: task }))));
  }
  listed.append(body, made("div", { className: "files" }, ...files(message)));
  listed.append(made("div", { className: "buttons" }, ...buttons(message)), own(message));
  if (!inThread && !message.private) {
    const label = message.replies ? `${message.replies} in the thread` : "Reply in a thread";
    listed.append(made("button", {
      type: "button", className: "link", textContent: label, onclick: () => go({ thread: message.thread }),
    }));
  }
  return listed;
}

function fill(list, messages, inThread) {
  const below = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  list.replaceChildren(...messages.map((message) => item(message, inThread)));
  if (below) list.scrollTop = list.scrollHeight;
}

let drawing = false;
let again = false;

async function draw() {
  if (drawing) {
    again = true;
    return;
  }
  drawing = true;
  const screen = await (await fetch(address("screen"))).json();
  where.channel = screen.channel;
  document.body.className = where.platform;
  at("rooms").replaceChildren(...screen.rooms.map((room) => {
    const mark = { public: "# ", private: "Private: ", direct: "@ " }[room.kind];
    const button = made("button", {
      type: "button", textContent: mark + room.name, onclick: () => go({ channel: room.id, thread: "" }),
    });
    if (room.id === screen.channel) button.setAttribute("aria-current", "true");
    return made("li", {}, button);
  }));
  at("title").textContent = screen.rooms.find((room) => room.id === screen.channel).name;
  fill(at("messages"), screen.messages, false);
  at("thread").hidden = !where.thread;
  fill(at("replies"), screen.thread, true);
  at("status").textContent = screen.status;
  at("status_of_thread").textContent = screen.status_of_thread;
  drawing = false;
  if (again) {
    again = false;
    draw();
  }
}

function listen() {
  if (changes) changes.close();
  changes = new EventSource(address("changes"));
  changes.onmessage = draw;
}

function people() {
  const platform = platforms.find((each) => each.name === where.platform);
  const options = Object.entries(platform.people).map(([name, id]) => made("option", { value: id, textContent: name }));
  at("person").replaceChildren(...options);
  if (!Object.values(platform.people).includes(where.person)) where.person = options[0].value;
  at("person").value = where.person;
}

function composer(form, thread) {
  form.append(at("box").content.cloneNode(true));
  form.text.placeholder = thread ? "Reply" : "Message";
  form.text.setAttribute("aria-label", form.text.placeholder);
  form.text.onkeydown = (event) => {
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      form.requestSubmit();
    }
  };
  form.onsubmit = async (event) => {
    event.preventDefault();
    const text = form.text.value;
    if (!text && !form.files.files.length) return;
    form.text.value = "";
    if (!(await act("say", { text, thread: thread ? where.thread : "" }, form.files.files))) form.text.value = text;
    form.files.value = "";
  };
}

async function start() {
  platforms = await (await fetch("/platforms")).json();
  at("platform").replaceChildren(...platforms.map((each) => made("option", { value: each.name, textContent: each.name })));
  where.platform = platforms.some((each) => each.name === where.platform) ? where.platform : platforms[0].name;
  where.thread = where.thread || "";
  at("platform").value = where.platform;
  people();
  at("platform").onchange = () => {
    where.platform = at("platform").value;
    people();
    listen();
    go({ channel: "", thread: "" });
  };
  at("person").onchange = () => go({ person: at("person").value, thread: "" });
  at("close").onclick = () => go({ thread: "" });
  composer(at("composer"), false);
  composer(at("reply"), true);
  listen();
  go({});
}

start();
