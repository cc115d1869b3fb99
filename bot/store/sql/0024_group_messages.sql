-- Conversations of a few people that their id does not tell from a channel: group messages of Slack.
CREATE TABLE group_messages (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    PRIMARY KEY (platform, workspace, channel)
);
