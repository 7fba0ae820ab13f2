// Opens the store for a verb, finds the organization of `--org`, runs the verb and closes the store.
import type { Organization } from '../store/organizations.ts'
import type { Store } from '../store/store.ts'
import type { Open, Opened } from './door.ts'
import { CommandFailedError, type ParsedCommand } from './output.ts'

/** The organization that a deployment's first start makes. */
const ORGANIZATION_DEFAULT = 'demo'

/** @param name short name or id. @throws CommandFailedError when there is no such organization */
export const findOrganization = async (
  { organizations }: Pick<Store, 'organizations'>,
  name: string,
): Promise<Organization> => {
  const organization = await organizations.find(name)
  if (organization === null) throw new CommandFailedError(`there is no organization ${name}`)
  return organization
}

/** @returns the id of the organization of `--org`, or of the default one. @throws CommandFailedError when there is none */
export const requireOrganization = async (
  store: Pick<Store, 'organizations'>,
  given: string | undefined,
): Promise<string> => {
  if (given !== undefined) return (await findOrganization(store, given)).id
  const organization = await store.organizations.find(ORGANIZATION_DEFAULT)
  if (organization !== null) return organization.id
  throw new CommandFailedError(
    `there is no organization ${ORGANIZATION_DEFAULT}: say which with --org (countersign org list shows them)`,
  )
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
  runOpened(open, async (opened) => run(opened, await requireOrganization(opened.store, command.text('org'))))
