// Collects the input of a replay, whose process has no database or settings.
import { REPLAY_KIND } from '../../../admin/policies/tried.ts'
import type { ListImage } from '../../../domain/list-image.ts'
import { createServedLists } from '../../../facts/lists/serve-lists.ts'
import { lastingTimers } from '../../../lib/time.ts'
import type { TaskCore, TaskKind } from '../../../module-interface/tasks.ts'
import { savedSteps } from '../../../policy/cel/compile.ts'
import { createFairWork } from '../../../policy/fair-work.ts'
import { rememberedSteps } from '../../../policy/revision.ts'
import { readRequiredFields } from './required-fields.ts'

/** Reads lists of the organization, and shared lists. @param names null for all */
export const readLists = async (
  { store, clock }: Pick<TaskCore, 'store' | 'clock'>,
  organizationId: string | null,
  names: ReadonlySet<string> | null,
): Promise<ListImage[]> => {
  const images: ListImage[] = []
  const served = createServedLists({
    lists: {
      ...store.lists,
      listAll: async () =>
        (await store.lists.listAll()).filter(
          ({ name, organizationId: owner }) =>
            names?.has(name) !== false && (owner === null || owner === organizationId),
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

export const replayOf = (
  core: Pick<TaskCore, 'config' | 'folder' | 'store' | 'clock' | 'decidedByPeople'>,
): TaskKind => {
  const work = createFairWork({ clock: core.clock, after: lastingTimers.after, pauseFactor: 4, waitingMax: 4 })
  return {
    kind: REPLAY_KIND,
    entry: 'src/modules/policy-lab/worker/replay.process.ts',
    prepare: async (task) => {
      const { kind, organizationId } = task
      const input = { ...task.input, directory: core.folder.decisions }
      const owner = organizationId ?? ''
      const policy = await work.run(owner, savedSteps(String(task.input['source'])))
      const { needs, document } = policy
      if (document.decides === 'sessions') {
        const sessions = await core.decidedByPeople(organizationId ?? '', {
          sinceSeconds: Math.floor(Number(task.input['sinceMs']) / 1_000),
          untilSeconds: Math.ceil(Number(task.input['untilMs']) / 1_000),
        })
        return { kind, input: { ...input, sessions }, lists: [] }
      }
      const names = new Set(needs.flatMap((need) => (need.kind === 'list' ? [need.list] : [])))
      const policyId = String(task.input['policyId'])
      const required = await readRequiredFields(core.store, owner, policyId, policy, (revision) =>
        work.run(owner, rememberedSteps(revision)),
      )
      return {
        kind,
        input: { ...input, organizationId, chains: core.config.chains.chains, required },
        lists: names.size === 0 ? [] : await readLists(core, organizationId, names),
      }
    },
  }
}
