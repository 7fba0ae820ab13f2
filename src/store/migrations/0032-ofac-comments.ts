// The US Treasury's lists also have a file of comments: the rest of remarks that the primary file cuts at 1,000 characters. The
// lists are due at once. An earlier program refuses four files and keeps the content that is there.
import type { Migration } from '../migrations.ts'

const AT = 'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports'

const withComments = (list: string, files: readonly string[], comments: string): string => {
  const urlsOf = (names: readonly string[]): string => JSON.stringify(names.map((name) => `${AT}/${name}`))
  return `UPDATE screening_lists SET urls = '${urlsOf([...files, comments])}', due_at_seconds = 0
    WHERE name = '${list}' AND urls = '${urlsOf(files)}'`
}

export const ofacComments: Migration = {
  number: 32,
  name: 'ofac-comments',
  statements: () => [
    withComments('ofac-sdn', ['SDN.CSV', 'ALT.CSV', 'ADD.CSV'], 'SDN_COMMENTS.CSV'),
    withComments('us-consolidated', ['CONS_PRIM.CSV', 'CONS_ALT.CSV', 'CONS_ADD.CSV'], 'CONS_COMMENTS.CSV'),
  ],
}
