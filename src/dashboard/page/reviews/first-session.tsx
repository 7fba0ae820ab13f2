// Command that creates a session, shown if there are none.
import { IDENTITY_PATHS } from '../../../identity/paths.ts'
import { call } from '../api/client.ts'
import { useQuery } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { MAKE } from '../shell/use-make.ts'
import { ButtonLink } from '../ui/button.tsx'
import { CodeBlock } from '../ui/copy.tsx'
import { Empty } from '../ui/parts.tsx'

/** Returns the URL of the identity API, from its OpenAPI document. */
const readApiUrl = async (signal: AbortSignal): Promise<string> => {
  const document = await call('GET /openapi/{document}', { params: { document: 'identity.json' }, signal })
  const [server] = (document['servers'] ?? []) as readonly { readonly url?: string }[]
  return server?.url ?? ''
}

export const FirstSession = () => {
  const { path, may } = useWorkplace()
  const url = useQuery(readApiUrl, [])
  return (
    <>
      <Empty
        icon="review"
        title="No sessions yet"
        actions={
          may('organization-admin') && (
            <>
              <ButtonLink kind="primary" href={path(`/reviews${MAKE}`)}>
                Invite to verify
              </ButtonLink>
              <ButtonLink href={path('/keys')}>Create an identity key</ButtonLink>
            </>
          )
        }
      >
        <p>
          A person opens a session link, connects wallets and submits the evidence that your level requires. Create the
          first link here, or create links from your backend with the identity API. Submissions appear here, and your
          backend is notified of your decision immediately.
        </p>
      </Empty>
      <div class="card-note">
        <CodeBlock
          label="command"
          code={[
            `curl -s ${url.value ?? ''}${IDENTITY_PATHS.registerIndividual.path} \\`,
            `  -H "Authorization: Bearer $IDENTITY_API_KEY" \\`,
            `  -H 'content-type: application/json' \\`,
            `  -d '{}'`,
          ].join('\n')}
        />
      </div>
    </>
  )
}
