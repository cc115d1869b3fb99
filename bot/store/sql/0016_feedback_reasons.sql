-- Why it was rated down: empty if nobody said.
ALTER TABLE feedback ADD COLUMN reason TEXT NOT NULL DEFAULT '';
