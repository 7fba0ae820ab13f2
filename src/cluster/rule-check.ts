// All processes of a deployment follow the rules of its newest schema and run the same modules.

import { StoreUnusableError } from '../store/errors.ts'
import { type ProcessModules, requireSameModules } from '../store/live-processes.ts'
import { requireKnownSchema } from '../store/migrations.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'

interface RuleCheckDependencies {
  readonly store: Pick<Store, 'database' | 'liveProcesses'>
  readonly modules: ProcessModules
  readonly wait: (milliseconds: number) => Promise<void>
  readonly log: Pick<Logger, 'error'>
  readonly endProcess: () => void
}

export const createRuleCheck = ({ store, modules, wait, log, endProcess }: RuleCheckDependencies) => {
  /** @throws StoreUnusableError if the schema needs a newer program, or while a live process runs other modules */
  const requireSameRules = async (): Promise<void> => {
    await requireKnownSchema(store.database)
    await requireSameModules(store.liveProcesses, modules, { wait })
  }
  return {
    requireSameRules,
    /** Ends a running process with other rules. Rejects if the store is unavailable. */
    endUnlessSameRules: async (): Promise<void> => {
      try {
        await requireSameRules()
      } catch (error) {
        if (!(error instanceof StoreUnusableError)) throw error
        log.error('this process ends', { reason: error.detail })
        endProcess()
      }
    },
  }
}
