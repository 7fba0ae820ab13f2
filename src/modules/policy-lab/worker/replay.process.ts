import { reportDecisions, reportReplay, reportSessions } from '../../../../workers/tasks/replay-report.ts'
import { runTask } from '../../../../workers/tasks/run-task.ts'
import { compileSaved } from '../../../policy/cel/compile.ts'
import { replaySessions } from '../../../policy/tools/session-replay.ts'
import type { DecidedSession } from '../../../policy/types/session-facts.ts'
import { type PolicyReplay, replayPolicy } from './policy-replay.ts'

await runTask(async ({ input, lists }, progress) => {
  // Sessions are part of the input, because this process has no database.
  const sessions = input['sessions'] as readonly DecidedSession[] | undefined
  if (sessions !== undefined) {
    return reportReplay(input, reportSessions(replaySessions(compileSaved(String(input['source'])), sessions)))
  }
  const found = await replayPolicy(input as unknown as PolicyReplay, lists, Date.now(), progress.say)
  progress.sayNow(found.bytes, found.bytes)
  return reportReplay(input, reportDecisions(found))
})
