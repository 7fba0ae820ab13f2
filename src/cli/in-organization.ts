// Opens the store for a verb, finds the organization of `--org`, runs the verb and closes the store.
import type { AnswerOf, Open, Opened } from './admin-client.ts'
import type { ParsedCommand } from './output.ts'

/** The organization that a deployment's first start makes. */
const ORGANIZATION_DEFAULT = 'demo'

export type Organization = AnswerOf<'GET /organizations/{organization}'>

/** @param name short name or id. @throws CommandFailedError when there is no such organization */
export const findOrganization = ({ admin }: Pick<Opened, 'admin'>, name: string, hint = ''): Promise<Organization> =>
  admin.call('GET /organizations/{organization}', {
    params: { organization: name },
    unknown: `there is no organization ${name}${hint}`,
  })

/** @returns the id of the organization of `--org`, or of the default one. @throws CommandFailedError when there is none */
export const requireOrganization = async (
  opened: Pick<Opened, 'admin'>,
  given: string | undefined,
): Promise<string> => {
  const hint = given === undefined ? ': say which with --org (countersign org list shows them)' : ''
  return (await findOrganization(opened, given ?? ORGANIZATION_DEFAULT, hint)).id
}

/** @throws what `run` throws */
export const runOpened = async (open: Open, run: (opened: Opened) => Promise<void>): Promise<number> => {
  const opened = await open()
  try {
    await run(opened)
    return 0
  } finally {
    await opened.close()
  }
}

/** @throws CommandFailedError when there is no such organization, and what `run` throws */
export const runInOrganization = (
  open: Open,
  command: Pick<ParsedCommand, 'text'>,
  run: (opened: Opened, organizationId: string) => Promise<void>,
): Promise<number> =>
  runOpened(open, async (opened) => run(opened, await requireOrganization(opened, command.text('org'))))
