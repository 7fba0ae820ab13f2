import { call } from '../api/client.ts'
import type { Attester } from '../api/types.ts'
import { SecondPersonCard } from '../approvals/second-person-card.tsx'
import { useList } from '../data/use-pages.ts'
import { useRead } from '../data/use-query.ts'
import { type Action, action } from '../ui/actions.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Badge } from '../ui/parts.tsx'
import { ResourcePage } from '../ui/resource.tsx'
import { badge, time } from '../ui/table.tsx'
import { ChainChecks } from './chain-checks.tsx'

const KINDS = {
  secp256k1: ['EVM (secp256k1)', 'Signs for Ethereum, Base and all other EVM chains.'],
  ed25519: ['Solana (Ed25519)', 'Signs for Solana.'],
} as const
const STATUS = { active: ['good', 'Active'], retiring: ['warn', 'Retiring'], retired: ['plain', 'Retired'] } as const

const CREATE = action({
  label: 'Add key',
  submit: 'Add',
  title: 'Add attester key',
  fields: {
    kind: { label: 'Chains', radio: true, choices: KINDS },
    token_key: {
      label: 'Hardware token key',
      hint: 'Label or PKCS#11 URI, such as pkcs11:id=%01. Leave empty to create a key in an encrypted keystore on the server.',
      optional: true,
      mono: true,
    },
  },
  notice: () => (
    <p class="soft">
      The oldest active key of each type keeps signing until you retire it. Before you retire it, register the new key’s
      address with your contracts.
    </p>
  ),
  run: (body) => call('POST /attesters', { body }),
  done: 'Attester key added',
})

const retire = ({ id, address }: Attester, final: boolean): Action => ({
  label: final ? 'Retire permanently' : 'Retire',
  icon: final ? 'trash' : 'clock',
  danger: true,
  title: final ? 'Retire this key permanently?' : 'Retire this key?',
  text: (
    <>
      <p>
        <code>{address}</code>
      </p>
      <p>
        {final
          ? 'The key is never loaded again. Remove its address from your registries afterwards. This can’t be undone.'
          : 'The next active key of its type signs within a second. Existing attestations stay valid while your registries list this address.'}
      </p>
    </>
  ),
  run: () => call('POST /attesters/{attester}/retire', { params: { attester: id }, body: { final } }),
  done: final ? 'Attester key retired' : 'Attester key is retiring',
})

export const Attesters = () => (
  <ResourcePage<Attester>
    title="Attesters"
    lead="The keys that sign for all organizations. To rotate a key, add a new key, register it on chain, then retire the old key."
    pages={useList('GET /attesters')}
    rowKey={({ id }) => id}
    name={({ address }) => address}
    dimmed={({ status }) => status === 'retired'}
    columns={{
      Address: ({ address }) => <Copyable text={address} label="address" />,
      Chains: ({ kind }) => KINDS[kind][0],
      Storage: ({ token_key: uri }) =>
        uri === null ? (
          'Keystore'
        ) : (
          <>
            <Badge tone="good">Hardware</Badge> <code>{uri}</code>
          </>
        ),
      Status: badge(({ status }) => STATUS[status]),
      Created: time('created_at'),
    }}
    create={CREATE}
    actions={(attester) => [
      attester.status === 'active' && retire(attester, false),
      attester.status !== 'retired' && retire(attester, true),
    ]}
    empty={['signature', 'No attester keys', 'Without an attester key, the service can’t sign attestations.']}
  >
    <ChainChecks />
    <SecondPersonCard
      label="Require another deployment admin’s approval for attester keys"
      covers="This applies to attester keys, deployment admins and shared lists."
      query={useRead('GET /deployment/settings')}
      change={(body) => call('PATCH /deployment/settings', { body })}
    />
  </ResourcePage>
)
