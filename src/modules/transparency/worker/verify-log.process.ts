// Verifies the decision log as a task: its hash chains, and the log against its tree.
import { runTask } from '../../../../workers/tasks/run-task.ts'
import { verifyLog } from '../../../../workers/tasks/verify-log.ts'
import type { TreeTaskInput } from '../service/tree-task.ts'
import { openDecisionTreeReader } from '../store/open.ts'
import { parseVerifierKey } from '../tree/note.ts'
import { checkTree } from '../verify/check-tree.ts'

await runTask(async ({ input }, progress) => {
  const { directory, tree: facts } = input as unknown as TreeTaskInput
  if (facts === null) return verifyLog(directory, progress, null)
  return verifyLog(directory, progress, async (logs, onChunk) => {
    const { target, key, saltKey, ...more } = facts
    const tree = await openDecisionTreeReader(target)
    try {
      const salt = Uint8Array.fromHex(saltKey)
      return await checkTree(
        { ...more, tree, key: parseVerifierKey(key), saltKey: salt, archivedBefore: null, onChunk },
        logs,
      )
    } finally {
      await tree?.close()
    }
  })
})
