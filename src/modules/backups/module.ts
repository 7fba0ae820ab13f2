import { defineModule } from '../../module-interface/module.ts'

export const backups = defineModule({
  name: 'backups',
  summary: 'back up a running deployment, restore backups, and test restores',
  verbs: {
    backup: {
      summary: 'Copy the deployment to a folder while the service runs',
      run: async (words, context) => (await import('./commands/verbs.ts')).backup(words, context),
    },
    restore: {
      summary: 'Create a deployment from a backup',
      run: async (words, context) => (await import('./commands/verbs.ts')).restore(words, context),
    },
  },
  inspect: async (inspection) => (await import('./commands/doctor-backups.ts')).inspectBackups(inspection),
})
