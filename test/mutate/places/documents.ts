// Checks of sessions: zones of documents, the queue, and the traces by which the same document is found again.
import { type Place, placesOf } from '../place.ts'

const CHECKS = ['test/identity/document-checks.test.ts']
const ZONE = ['test/documents/zone.test.ts']
const RUNNER = ['test/identity/check-runner.test.ts']

export const documents: readonly Place[] = [
  ...placesOf('src/documents/zone/decode-zone.ts', ZONE, [
    ['check digits are trusted with G and 6', "&& !countsAs(character, first?.character ?? '')", ''],
    ['a doubtful character is read', 'if (isDoubtful) return null', ''],
  ]),
  ...placesOf('src/identity/check-runner.ts', RUNNER, [
    ['a part that fails once is not done', 'if (target.attempts < RETRY_AFTER_SECONDS.length) return false', ''],
  ]),
  ...placesOf('src/store/session-checks.ts', RUNNER, [
    [
      'a session that was handed in again leaves the queue',
      'DELETE FROM session_check_queue WHERE ${OF_SESSION} AND sequence = ?',
      'DELETE FROM session_check_queue WHERE ${OF_SESSION} AND sequence >= ? - 100',
    ],
  ]),
  ...placesOf('src/store/session-traces.ts', CHECKS, [
    [
      'one’s own session is another identity',
      'theirs.address = mine.address',
      'theirs.address = mine.address AND 1 = 2',
    ],
    ['erased evidence leaves traces', 'if (kept.length === 0) return', ''],
  ]),
  ...placesOf('src/store/evidence.ts', CHECKS, [
    ['traces stay when evidence is erased', 'await eraseTraces(transaction, organizationId, sessionId)', ''],
  ]),
  ...placesOf(
    'src/store/key-rotation.ts',
    ['test/identity/evidence/rotate-key.test.ts'],
    [
      [
        'the key of traces is not wrapped anew',
        "yield traceKeys.map(({ sealed }) => ({ kind: 'traces', sealed }))",
        '',
      ],
    ],
  ),
]
