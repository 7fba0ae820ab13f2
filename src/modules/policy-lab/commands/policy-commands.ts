import { type Command, ORG, text } from '../../../command-line/command.ts'
import { REVISION_OPTION, REVISION_WORD, reportingMistakes } from '../../../command-line/policy-context.ts'
import { replay } from './policy-replay.ts'

export const LAB_COMMANDS: readonly Command[] = [
  {
    noun: 'policy',
    verb: 'replay',
    summary: 'Replay recorded decisions with a revision or a file, and report changes by rule',
    description:
      'A session policy is replayed on the newest sessions that reviewers decided. This is required before it can decide sessions. With --url, a deployment job replays the log of one node.',
    words: [REVISION_WORD],
    options: [
      REVISION_OPTION,
      text(
        'since',
        'TIME',
        'Start of the period: an age such as 36h, or an RFC 3339 time. Defaults to 7d, or 365d for sessions',
      ),
      text('until', 'TIME', 'End of the period. Defaults to now'),
      ORG,
    ],
    run: reportingMistakes(replay),
  },
]
