// The keys that sign: made here and kept in keystores on the machine, or in a hardware token; retired when another has
// taken over. Their addresses are public; registries on chain have to know them.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Attester } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { useRead } from '../data/use-query.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { ConfirmDialog, FormDialog } from '../ui/dialog.tsx'
import { RadioField, TextField } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { RowMenu } from '../ui/menu.tsx'
import { Badge, Card, Empty, Page } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { ChainChecks } from './chain-checks.tsx'
import { SecondPerson } from './second-person.tsx'

const KINDS = {
  secp256k1: { label: 'EVM (secp256k1)', hint: 'Signs for Ethereum, Base and every other EVM chain.' },
  ed25519: { label: 'Solana (Ed25519)', hint: 'Signs for Solana.' },
} as const

const STATUS = {
  active: <Badge tone="good">Active</Badge>,
  retiring: <Badge tone="warn">Retiring</Badge>,
  retired: <Badge>Retired</Badge>,
} as const

const KeyInToken = ({ uri }: { readonly uri: string }) => (
  <>
    <Badge tone="good">Hardware</Badge> <code>{uri}</code>
  </>
)

interface DialogProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

const AddAttester = ({ onClose, onDone }: DialogProps) => {
  const form = useForm({
    initial: { kind: 'secp256k1' as Attester['kind'], token_key: '' },
    submit: async ({ kind, token_key: tokenKey }): Promise<void> => {
      await call('POST /attesters', { body: { kind, ...(tokenKey === '' ? {} : { token_key: tokenKey }) } })
      say(tokenKey === '' ? 'Attester key made' : 'Attester key added')
      onDone()
      onClose()
    },
  })
  return (
    <FormDialog
      title="Add an attester key"
      form={form}
      submitLabel={form.values.token_key === '' ? 'Make the key' : 'Use the key'}
      onClose={onClose}
    >
      <RadioField
        legend="For"
        name="kind"
        value={form.values.kind}
        onValue={(value) => form.set('kind', value as Attester['kind'])}
        choices={Object.entries(KINDS).map(([value, words]) => ({ value, ...words }))}
      />
      <TextField
        label="Key in the hardware token"
        hint="Its label, or a PKCS#11 URI such as pkcs11:id=%01. Empty: the key is made on the service’s machine and kept there in an encrypted keystore."
        optional
        mono
        {...form.text('token_key')}
      />
      <p class="soft">
        Nothing changes yet: the oldest active key of a kind signs, until it retires. Register the new address with your
        contracts in between.
      </p>
    </FormDialog>
  )
}

const RetireAttester = ({
  attester,
  final,
  onClose,
  onDone,
}: DialogProps & { readonly attester: Attester; readonly final: boolean }) => {
  const action = useAction(async () => {
    await call('POST /attesters/{attester}/retire', {
      params: { attester: attester.id },
      body: { final },
    })
    say(final ? 'Attester retired for good' : 'Attester is retiring')
    onDone()
    onClose()
  })
  return (
    <ConfirmDialog
      title={final ? 'Retire this key for good?' : 'Retire this key?'}
      confirmLabel={final ? 'Retire it for good' : 'Retire it'}
      action={action}
      onClose={onClose}
    >
      <p>
        <code>{attester.address}</code>
      </p>
      {final ? (
        <p>It is never loaded again. Take its address out of your registries afterwards. This can’t be undone.</p>
      ) : (
        <p>
          It signs no more; the next active key of its kind does, within a second. What it signed before stays valid for
          as long as your registries know its address.
        </p>
      )}
    </ConfirmDialog>
  )
}

type DialogAction =
  | { readonly kind: 'add' }
  | { readonly kind: 'retire'; readonly attester: Attester; readonly final: boolean }

export const Attesters = () => {
  const [dialogAction, setDialogAction] = useState<DialogAction | null>(null)
  const query = useRead('GET /attesters')
  const { reload } = query
  const add = (): void => setDialogAction({ kind: 'add' })
  useShortcut('c', 'Add an attester key', add)
  return (
    <Page
      title="Attesters"
      lead="The keys that sign for every organization of this deployment. To replace one: add a new key, register it on chain, then retire the old one."
      actions={
        <Button kind="primary" icon="plus" onClick={add}>
          Add a key
        </Button>
      }
    >
      <Card flush>
        <Loaded query={query}>
          {(value) =>
            value.data.length === 0 ? (
              <Empty icon="signature" title="No attester keys">
                <p>Without one, nothing can be signed.</p>
              </Empty>
            ) : (
              <Table<Attester>
                caption="Attesters"
                rows={value.data}
                rowKey={({ id }) => id}
                dimmed={({ status }) => status === 'retired'}
                columns={{
                  Address: ({ address }) => <Copyable text={address} label="address" />,
                  For: ({ kind }) => KINDS[kind].label,
                  Key: ({ token_key: key }) => (key === null ? 'Keystore' : <KeyInToken uri={key} />),
                  Status: { narrow: true, cell: ({ status }) => STATUS[status] },
                  Made: { narrow: true, cell: ({ created_at: at }) => <Time at={at} /> },
                  '': (attester) =>
                    attester.status !== 'retired' && (
                      <RowMenu
                        label={`Actions for ${attester.address}`}
                        items={[
                          ...(attester.status === 'active'
                            ? [
                                {
                                  label: 'Retire…',
                                  icon: 'clock' as const,
                                  onSelect: () => setDialogAction({ kind: 'retire', attester, final: false }),
                                },
                              ]
                            : []),
                          {
                            label: 'Retire for good…',
                            icon: 'trash',
                            danger: true,
                            onSelect: () => setDialogAction({ kind: 'retire', attester, final: true }),
                          },
                        ]}
                      />
                    ),
                }}
              />
            )
          }
        </Loaded>
      </Card>
      <ChainChecks />
      <SecondPerson />
      {dialogAction?.kind === 'add' && <AddAttester onClose={() => setDialogAction(null)} onDone={reload} />}
      {dialogAction?.kind === 'retire' && (
        <RetireAttester
          attester={dialogAction.attester}
          final={dialogAction.final}
          onClose={() => setDialogAction(null)}
          onDone={reload}
        />
      )}
    </Page>
  )
}
