import { runTask } from './run-task.ts'
import { verifyLog } from './verify-log.ts'

await runTask(async ({ kind, input }, progress) => {
  if (kind !== 'decisions.verify') throw new Error('unknown kind')
  return verifyLog(String(input['directory']), progress, null)
})
