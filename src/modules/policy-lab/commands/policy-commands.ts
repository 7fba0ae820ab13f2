// `countersign policy replay`.
import { type Command, ORG, text } from '../../../command-line/command.ts'
import { REVISION_OPTION, REVISION_WORD, reportingMistakes } from '../../../command-line/policy-context.ts'
import { replay } from './policy-replay.ts'

export const LAB_COMMANDS: readonly Command[] = [
  {
    noun: 'policy',
    verb: 'replay',
    isLocal: true,
    summary: 'Replay recorded decisions against a revision or a file, and report the changes by rule',
    description:
      'A policy that decides sessions runs over the newest sessions that people have decided, and must be tried so before it decides.',
    words: [REVISION_WORD],
    options: [
      REVISION_OPTION,
      text('since', 'TIME', 'Start, as 36h or RFC 3339. Defaults to 7d, or 365d for sessions'),
      text('until', 'TIME', 'End. Defaults to now'),
      ORG,
    ],
    run: reportingMistakes(replay),
  },
]
