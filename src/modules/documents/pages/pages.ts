import type { ModulePages } from '../../../dashboard/page/module-pages.ts'

export const documentPages: ModulePages = {
  module: 'documents',
  setting: ['Minimum age', 'checks', 'minimum-age'],
  load: async () => (await import('./parts.tsx')).PARTS,
}
