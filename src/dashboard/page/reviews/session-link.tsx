// A person's way into a session: made here, shown once as a link, a code and the text of a mail, and sent by whoever made it.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { SessionLink } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Dialog, FormDialog } from '../ui/dialog.tsx'
import { RadioField, SelectField, TextField } from '../ui/field.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Secret } from '../ui/secret.tsx'
import { Segments } from '../ui/segments.tsx'
import { LANGUAGES, type Language, mailFor } from './mail.ts'

const QrCode = lazy<{ readonly text: string; readonly label: string }>(
  async () => (await import('../account/qr-code.tsx')).QrCode,
)

const WAYS = [
  { value: 'link', label: 'Link' },
  { value: 'code', label: 'QR code' },
  { value: 'mail', label: 'E-mail' },
] as const
type Way = (typeof WAYS)[number]['value']

const Mail = ({ url }: { readonly url: string }) => {
  const { organization } = useWorkplace()
  const [language, setLanguage] = useState<Language>('en')
  const { subject, body } = mailFor(language, organization.name, url)
  return (
    <div class="form">
      <SelectField
        label="Language"
        value={language}
        onValue={(value) => setLanguage(value as Language)}
        choices={LANGUAGES}
      />
      <div class="secret-text">
        <textarea readOnly aria-label="Text of the e-mail" rows={9} value={`${subject}\n\n${body}`} />
        <CopyButton text={`${subject}\n\n${body}`} label="the text" words />
      </div>
      <ButtonLink href={`mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(body)}`}>
        Open in your mail program
      </ButtonLink>
    </div>
  )
}

export const SendLink = ({ link, onClose }: { readonly link: SessionLink; readonly onClose: () => void }) => {
  const [way, setWay] = useState<Way>('link')
  return (
    <Dialog title="Send the link to its person">
      <div class="form">
        <p class="confirm-text">
          Whoever opens it first goes on with it, in that browser alone. Send it to the person that you mean, and to
          nobody else.
        </p>
        <Segments label="How to send it" choices={WAYS} value={way} onValue={(value) => setWay(value as Way)} />
        {way === 'link' && <Secret label="The link" text={link.url} />}
        {way === 'code' && <QrCode text={link.url} label="QR code with the link" />}
        {way === 'mail' && <Mail url={link.url} />}
        <div class="form-actions">
          <Button kind="primary" onClick={onClose}>
            I have sent it
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

export const MakeSession = (props: { readonly onClose: () => void; readonly onMade: (link: SessionLink) => void }) => {
  const { params } = useWorkplace()
  const form = useForm({
    initial: { type: 'individual', environment: 'live', wallet_address: '', origin_url: '' },
    submit: async ({ type, environment, wallet_address: wallet, origin_url: origin }): Promise<void> => {
      props.onMade(
        await call('POST /organizations/{organization}/sessions', {
          params,
          body: {
            type: type as 'individual',
            environment: environment as 'live',
            ...(wallet.trim() === '' ? {} : { wallet_address: wallet.trim() }),
            ...(origin.trim() === '' ? {} : { origin_url: origin.trim() }),
          },
        }),
      )
    },
  })
  return (
    <FormDialog title="Ask someone to verify" form={form} submitLabel="Make the link" onClose={props.onClose}>
      <RadioField
        legend="Who"
        name="type"
        value={form.values.type}
        onValue={(value) => form.set('type', value)}
        choices={[
          { value: 'individual', label: 'A person' },
          { value: 'business', label: 'A business' },
        ]}
      />
      <SelectField
        {...form.text('environment')}
        label="Environment"
        hint="A test session takes made-up details, and verifies nobody."
        choices={[
          { value: 'live', label: 'Live' },
          { value: 'test', label: 'Test' },
        ]}
      />
      <TextField
        {...form.text('wallet_address')}
        label="Only this wallet"
        optional
        mono
        hint="Left empty, the person connects any wallets."
        input={{ maxLength: 100 }}
      />
      <TextField
        {...form.text('origin_url')}
        label="Where they go back to"
        optional
        input={{ maxLength: 2_048, placeholder: 'https://app.example.com/account' }}
      />
    </FormDialog>
  )
}
