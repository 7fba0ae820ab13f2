// When the checks of a session were last queued without a submission, and at which sequence number. An older program would
// complete such sessions unchecked.
import type { Migration } from '../migrations.ts'

export const checksWithoutSubmission: Migration = {
  number: 31,
  name: 'checks-without-submission',
  statements: ({ integer }) => [
    `ALTER TABLE sessions ADD COLUMN checks_queued_sequence ${integer}`,
    `ALTER TABLE sessions ADD COLUMN checks_queued_at_seconds ${integer}`,
  ],
}
