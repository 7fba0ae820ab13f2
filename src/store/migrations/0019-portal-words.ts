// What an organization says to people on the verification page beside its look: its own words by language, its privacy
// policy, and where to ask for help.
import type { Migration } from '../migrations.ts'

export const portalWords: Migration = {
  number: 19,
  name: 'portal-words',
  worksWith: 18,
  statements: () =>
    ['privacy_url', 'support_email', 'words_en', 'words_de'].map(
      (column) => `ALTER TABLE organization_brands ADD COLUMN ${column} TEXT`,
    ),
}
