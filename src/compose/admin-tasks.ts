// Gathers what a task's process needs and can't get itself, because it has neither the database nor the settings.
import type { TaskInput, TreeTaskInput } from '../../workers/tasks/task-input.ts'
import type { ChainTable } from '../domain/chain.ts'
import type { ListImage } from '../domain/list-image.ts'
import { createServedLists } from '../facts/lists/serve-lists.ts'
import type { Clock } from '../lib/time.ts'
import { bucketAccessOf, type ShipSettings } from '../modules/log-shipping/service/ship-service.ts'
import { openShipTarget } from '../modules/log-shipping/ship-access.ts'
import { openTreeAccess } from '../modules/transparency/service/tree-access.ts'
import { treeTargetOf } from '../modules/transparency/service/tree-service.ts'
import { encodeVerifierKey } from '../modules/transparency/tree/note.ts'
import { compileSaved } from '../policy/cel/compile.ts'
import type { SessionKnowledge } from '../policy/types/session-facts.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import type { Store } from '../store/store.ts'
import type { StoreTarget } from '../store/store-address.ts'
import type { Task } from '../store/tasks.ts'

export interface TaskPreparation {
  readonly store: Store
  readonly folder: Pick<DataFolder, 'decisions' | 'keystores' | 'decisionTree' | 'decisionTreeHead' | 'auditHead'>
  readonly target: StoreTarget
  readonly ship: ShipSettings
  readonly chains: ChainTable
  readonly clock: Clock
  readonly decidedByPeople: SessionKnowledge['decidedByPeople']
}

/** The tree and heads to compare the log with; null before a start has made a tree. */
const readTree = async ({ store, folder, target, ship }: TaskPreparation): Promise<TreeTaskInput | null> => {
  const place = ship.decisionsShip
  const access = await openTreeAccess({
    store,
    folder,
    target,
    shipTarget: place === null ? null : () => openShipTarget(place, bucketAccessOf(ship, place)),
  })
  if (access === null) return null
  await access.close()
  const { key, saltKey, heads, auditProblems, warnings } = access
  return {
    target: treeTargetOf(target, folder),
    key: encodeVerifierKey(key),
    saltKey: Buffer.from(saltKey).toString('hex'),
    heads,
    auditProblems,
    warnings,
  }
}

/** The present content of the lists with these names, as the organization sees them. */
const readLists = async (
  { store, clock }: TaskPreparation,
  organizationId: string | null,
  names: ReadonlySet<string>,
): Promise<ListImage[]> => {
  const images: ListImage[] = []
  const served = createServedLists({
    lists: {
      ...store.lists,
      listAll: async () =>
        (await store.lists.listAll()).filter(
          ({ name, organizationId: owner }) => names.has(name) && (owner === null || owner === organizationId),
        ),
    },
    bases: store.listBases,
    publish: (published) => images.push(...published),
    clock,
    onError: () => undefined,
  })
  await served.load()
  served.stop()
  return images
}

export const createPrepareTask =
  (preparation: TaskPreparation) =>
  async (task: Task): Promise<TaskInput> => {
    const { folder, chains } = preparation
    const input = { ...task.input, directory: folder.decisions }
    if (task.kind === 'decisions.verify') {
      return { kind: task.kind, input: { ...input, tree: await readTree(preparation) }, lists: [] }
    }
    if (task.kind !== 'policy.replay') return { kind: task.kind, input, lists: [] }
    const { needs, document } = compileSaved(String(task.input['source']))
    if (document.decides === 'sessions') {
      const sessions = await preparation.decidedByPeople(task.organizationId ?? '', {
        sinceSeconds: Math.floor(Number(task.input['sinceMs']) / 1_000),
        untilSeconds: Math.ceil(Number(task.input['untilMs']) / 1_000),
      })
      return { kind: task.kind, input: { ...input, sessions }, lists: [] }
    }
    const names = new Set(needs.flatMap((need) => (need.kind === 'list' ? [need.list] : [])))
    return {
      kind: task.kind,
      input: {
        ...input,
        organizationId: task.organizationId,
        chains: chains.chains,
      },
      lists: names.size === 0 ? [] : await readLists(preparation, task.organizationId, names),
    }
  }
