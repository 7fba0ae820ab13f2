// A first call of the attestation API, ready to be copied: with the project's hash, the chain chosen here, and the key
// where one was just issued.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useQuery } from '../data/use-query.ts'
import { IssueKey } from '../keys/issue-key.tsx'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { CodeBlock } from '../ui/copy.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { Loading } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { curlFor, KEY_PLACE } from './curl.ts'

const EVM_WALLET = '0x1111111111111111111111111111111111111111'
const SOLANA_WALLET = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM'

export const TryIt = ({ verificationHash }: { readonly verificationHash: string }) => {
  const { may } = useWorkplace()
  const known = useQuery((signal) => call('GET /deployment', { signal }), [])
  const [chosen, setChain] = useState('')
  const [typed, setWallet] = useState('')
  const [apiKey, setApiKey] = useState<string | null>(null)
  const [issuing, setIssuing] = useState(false)
  if (known.value === null) {
    return known.error === null ? <Loading /> : <Problem error={known.error} retry={known.reload} />
  }
  const { chains, api_url: apiUrl } = known.value
  const chain = chains.find(({ name }) => name === chosen) ?? chains.find(({ name }) => name === 'base') ?? chains[0]
  const sample = chain?.family === 'solana' ? SOLANA_WALLET : EVM_WALLET
  return (
    <div class="form">
      <div class="form-row">
        <SelectField
          label="Chain"
          value={chain?.name ?? ''}
          onValue={setChain}
          choices={chains.map(({ name }) => ({ value: name, label: name }))}
        />
        <TextField
          label="Wallet"
          mono
          value={typed}
          onValue={setWallet}
          input={{ placeholder: sample, maxLength: 100 }}
        />
      </div>
      <CodeBlock
        label="the command"
        code={curlFor({
          apiUrl,
          apiKey,
          verificationHash,
          chain: chain?.name ?? '',
          wallet: typed.trim() === '' ? sample : typed.trim(),
        })}
      />
      {apiKey === null ? (
        <p class="soft">
          <code>{KEY_PLACE}</code> is an attestation key: one that you have, or{' '}
          {may('organization-admin') ? (
            <Button small icon="key" onClick={() => setIssuing(true)}>
              issue one for this command
            </Button>
          ) : (
            'one that an organization admin issues for you.'
          )}
        </p>
      ) : (
        <p class="soft">
          The command holds your new key, which is not shown again: copy it, or the key, before you leave.
        </p>
      )}
      {issuing && (
        <IssueKey
          only="attestation"
          onClose={() => setIssuing(false)}
          onIssued={(key) => {
            setApiKey(key)
          }}
        />
      )}
    </div>
  )
}
