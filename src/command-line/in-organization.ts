import type { AnswerOf, Opened } from './admin-client.ts'

/** Name of the organization that is created at a deployment's first startup. */
const ORGANIZATION_DEFAULT = 'demo'

type Organization = AnswerOf<'GET /organizations/{organization}'>

/** @param name short name or id. @throws CommandFailedError if it doesn't exist */
const findOrganization = ({ admin }: Pick<Opened, 'admin'>, name: string, hint = ''): Promise<Organization> =>
  admin.call('GET /organizations/{organization}', {
    params: { organization: name },
    unknown: `unknown organization ${name}${hint}`,
  })

/** Returns the id of the organization of `--org`, or the default. @throws CommandFailedError if it doesn't exist */
export const requireOrganization = async (
  opened: Pick<Opened, 'admin'>,
  given: string | undefined,
): Promise<string> => {
  const hint = given === undefined ? ': specify one with --org; the command organization list shows all of them' : ''
  return (await findOrganization(opened, given ?? ORGANIZATION_DEFAULT, hint)).id
}
