// Command that sends many requests, shown if there are no decisions yet.
import { ATTESTATION_PATHS } from '../../../attestation/paths.ts'
import { call } from '../api/client.ts'
import { curlFor } from '../attest/curl.ts'
import { readDeployment } from '../data/use-deployment.ts'
import { useQuery } from '../data/use-query.ts'
import { useSession } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { CodeBlock } from '../ui/copy.tsx'
import { Card } from '../ui/parts.tsx'

const REQUESTS = 5_000
const AT_A_TIME = 50
const WALLET = '0x1111111111111111111111111111111111111111'

/** curl sends one request per number in the range, which is in the URL fragment and therefore isn't sent. */
const loadCommand = (apiUrl: string, verificationHash: string, chain: string): string =>
  curlFor({ apiUrl, apiKey: null, verificationHash, chain, wallet: WALLET })
    .replace('curl -s ', `curl -s -Z --parallel-max ${AT_A_TIME} `)
    .replace(
      `${apiUrl}${ATTESTATION_PATHS.attestation.path} \\`,
      `'${apiUrl}${ATTESTATION_PATHS.attestation.path}#[1-${REQUESTS}]' -o /dev/null \\`,
    )

export const LoadCommand = ({ quiet, onHide }: { readonly quiet: boolean; readonly onHide: () => void }) => {
  const { organization } = useSession()
  const { value } = useQuery(
    async (signal) => {
      const { chains, api_url: apiUrl } = await readDeployment()
      const projects =
        organization === null
          ? []
          : (
              await call('GET /organizations/{organization}/projects', {
                params: { organization: organization.id },
                query: { limit: 1 },
                signal,
              })
            ).data
      return { apiUrl, chains, project: projects[0] }
    },
    [organization?.id],
  )
  const chain =
    value?.chains.find(({ name }) => name === 'base') ?? value?.chains.find(({ family }) => family === 'evm')
  return (
    <Card
      title={quiet ? 'No decisions yet' : 'Receiving decisions'}
      actions={
        <Button kind="quiet" small onClick={onHide}>
          Hide
        </Button>
      }
      text={`The charts update automatically. This command requests attestations: ${REQUESTS.toLocaleString('en')} in total, ${AT_A_TIME} at a time. Set ATTESTATION_API_KEY to an attestation key.`}
    >
      {value?.project === undefined ? (
        <p class="soft">Create a project first: the command contains its verification hash.</p>
      ) : (
        <CodeBlock
          label="command"
          code={loadCommand(value.apiUrl, value.project.verification_hash, chain?.name ?? '')}
        />
      )}
    </Card>
  )
}
