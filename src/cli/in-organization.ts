// The second half of every command that works in one organization: opens the store, finds whom `--org` names, runs the
// verb, and closes the store whatever came of it.
import type { Store } from '../store/store.ts'
import { CommandFailedError, type ParsedCommand } from './output.ts'

/** The organization of a deployment's first start. */
const ORGANIZATION_DEFAULT = 'demo'

/** @throws CommandFailedError when there is no such organization, and what `run` throws */
export const runInOrganization = async (
  openStore: () => Promise<Store>,
  command: Pick<ParsedCommand, 'text'>,
  run: (store: Store, organizationId: string) => Promise<void>,
): Promise<number> => {
  const store = await openStore()
  try {
    const name = command.text('org') ?? ORGANIZATION_DEFAULT
    const organization = await store.organizations.find(name)
    if (organization === null) throw new CommandFailedError(`there is no organization ${name}`)
    await run(store, organization.id)
    return 0
  } finally {
    await store.close()
  }
}
