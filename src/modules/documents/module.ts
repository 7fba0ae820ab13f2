import { defineModule } from '../../module-interface/module.ts'

export const documents = defineModule({
  name: 'documents',
  summary: 'check identity documents, portraits and the person’s age',
  processes: {
    'src/modules/documents/worker/read-picture.process.ts': () => import('./worker/read-picture.process.ts'),
  },
  operations: async () => (await import('./operations/operations.ts')).operations,
  openSessions: async (core) => (await import('./checks/open-checks.ts')).openDocumentChecks(core),
})
