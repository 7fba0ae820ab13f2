// The second half of every command that works in one organization: opens the store, finds whom `--org` names, runs the
// verb, and closes the store whatever came of it.
import type { Open, Opened } from './door.ts'
import { CommandFailedError, type ParsedCommand } from './output.ts'

/** The organization of a deployment's first start. */
const ORGANIZATION_DEFAULT = 'demo'

/** @throws CommandFailedError when there is no such organization, and what `run` throws */
export const runInOrganization = async (
  open: Open,
  command: Pick<ParsedCommand, 'text'>,
  run: (opened: Opened, organizationId: string) => Promise<void>,
): Promise<number> => {
  const opened = await open()
  try {
    const name = command.text('org') ?? ORGANIZATION_DEFAULT
    const organization = await opened.store.organizations.find(name)
    if (organization === null) throw new CommandFailedError(`there is no organization ${name}`)
    await run(opened, organization.id)
    return 0
  } finally {
    await opened.close()
  }
}
