// The task that verifies the decision log.
import type { TaskCore, TaskKind } from '../../../module-interface/tasks.ts'
import { openShipTarget, SHIPPING } from '../../../object-store/ship-access.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { encodeVerifierKey } from '../tree/note.ts'
import type { TreeToCheck } from '../verify/check-tree.ts'
import { openTreeAccess } from './tree-access.ts'
import { treeTargetOf } from './tree-service.ts'

export interface TreeTaskInput {
  readonly directory: string
  readonly tree:
    | (Pick<TreeToCheck, 'heads' | 'auditProblems' | 'warnings' | 'isSingleNode'> & {
        readonly target: StoreTarget
        readonly key: string
        readonly saltKey: string
      })
    | null
}

const readTree = async ({ store, folder, target, findService }: TaskCore): Promise<TreeTaskInput['tree']> => {
  const shipping = findService(SHIPPING)
  const place = shipping?.place ?? null
  const access = await openTreeAccess({
    store,
    folder,
    target,
    shipTarget: shipping === null || place === null ? null : () => openShipTarget(place, shipping.accessTo(place)),
  })
  if (access === null) return null
  await access.close()
  const { key, saltKey, heads, auditProblems, warnings, isSingleNode } = access
  return {
    target: treeTargetOf(target, folder),
    key: encodeVerifierKey(key),
    saltKey: Buffer.from(saltKey).toString('hex'),
    heads,
    auditProblems,
    warnings,
    isSingleNode,
  }
}

export const verifyWithTree = (core: TaskCore): TaskKind => ({
  kind: 'decisions.verify',
  entry: 'src/modules/transparency/worker/verify-log.process.ts',
  prepare: async ({ kind }) => {
    const input: TreeTaskInput = { directory: core.folder.decisions, tree: await readTree(core) }
    return { kind, input: { ...input }, lists: [] }
  },
})
