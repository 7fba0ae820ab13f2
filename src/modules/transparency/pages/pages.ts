import type { ModulePages } from '../../../dashboard/page/module-pages.ts'

export const transparencyPages: ModulePages = {
  module: 'transparency',
  load: async () => (await import('./parts.tsx')).PARTS,
}
