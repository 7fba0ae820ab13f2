import { defineModule } from '../../module-interface/module.ts'

export const screening = defineModule({
  name: 'screening',
  summary: 'compare people, businesses and wallets with sanctions lists',
  // Names and countries from machine-readable zones are screened too.
  needs: ['documents'],
  processes: {
    'src/modules/screening/worker/screening-task.process.ts': () => import('./worker/screening-task.process.ts'),
    'src/modules/screening/worker/screening.process.ts': () => import('./worker/screening.process.ts'),
  },
  commands: {
    screening: async () => (await import('./commands/screening.ts')).SCREENING_COMMANDS,
    'screening-list': async () => (await import('./commands/screening.ts')).SCREENING_LIST_COMMANDS,
  },
  inspect: async (inspection) => (await import('./commands/doctor-screening.ts')).inspectScreening(inspection),
  operations: async () => (await import('./operations/operations.ts')).operations,
  openSessions: async (core) => {
    const { createScreeningService } = await import('./screening-service.ts')
    const { createPrepareRequireCurrent } = await import('./checks/require-current.ts')
    const { parts, lists, leaderTask } = createScreeningService({ ...core, storeAgain: core.storeChecks })
    return {
      checks: parts,
      lists,
      leaderTasks: [leaderTask],
      prepareRequireCurrent: createPrepareRequireCurrent([...core.wallets.screeners.keys()]),
    }
  },
})
