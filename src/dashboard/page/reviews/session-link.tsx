// The link is shown once as text, QR code and email, for the reviewer to send.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { SessionLink } from '../api/types.ts'
import { useWorkplace } from '../shell/session.ts'
import { type Action, action } from '../ui/actions.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField } from '../ui/field.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Secret } from '../ui/secret.tsx'
import { Segments } from '../ui/segments.tsx'

const QrCode = lazy<{ readonly text: string; readonly label: string }>(
  async () => (await import('../account/qr-code.tsx')).QrCode,
)

const WAYS = [
  { value: 'link', label: 'Link' },
  { value: 'code', label: 'QR code' },
  { value: 'mail', label: 'Email' },
] as const
type Way = (typeof WAYS)[number]['value']

const LANGUAGES = [
  { value: 'en', label: 'English' },
  { value: 'de', label: 'Deutsch' },
] as const
type Language = (typeof LANGUAGES)[number]['value']

const mailFor = (
  language: Language,
  organization: string,
  url: string,
): { readonly subject: string; readonly body: string } =>
  language === 'de'
    ? {
        subject: `${organization}: Bitte bestätigen Sie Ihre Identität`,
        body: `Guten Tag,

bitte bestätigen Sie Ihre Identität für ${organization} über diesen Link:

${url}

Es dauert etwa fünf Minuten. Der Link gilt nur in dem Browser, in dem Sie ihn zuerst öffnen; geben Sie ihn nicht weiter. Niemand von ${organization} fragt Sie nach Wiederherstellungswörtern oder einem privaten Schlüssel.`,
      }
    : {
        subject: `${organization}: please verify your identity`,
        body: `Hello,

please verify your identity for ${organization} with this link:

${url}

It takes about five minutes. The link works only in the browser in which you open it first; do not share it. Nobody from ${organization} will ask you for a recovery phrase or a private key.`,
      }

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
        <textarea readOnly aria-label="Email text" rows={9} value={`${subject}\n\n${body}`} />
        <CopyButton text={`${subject}\n\n${body}`} label="text" words="Copy" />
      </div>
      <ButtonLink href={`mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(body)}`}>
        Open in your email app
      </ButtonLink>
    </div>
  )
}

export const SendLink = ({ link, onClose }: { readonly link: SessionLink; readonly onClose: () => void }) => {
  const [way, setWay] = useState<Way>('link')
  return (
    <Dialog title="Send this link">
      <div class="form">
        <p class="confirm-text">
          Only the first browser that opens this link can use it. Send it to the intended person only.
        </p>
        <Segments label="How to send it" choices={WAYS} value={way} onValue={(value) => setWay(value as Way)} />
        {way === 'link' && <Secret label="Link" text={link.url} />}
        {way === 'code' && <QrCode text={link.url} label="QR code with the link" />}
        {way === 'mail' && <Mail url={link.url} />}
        <div class="form-actions">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

export const inviteToVerify = (params: { readonly organization: string }): Action =>
  action({
    label: 'Invite to verify',
    submit: 'Create link',
    fields: {
      type: { label: 'Type', radio: true, choices: { individual: 'Individual', business: 'Business' } },
      environment: {
        label: 'Environment',
        hint: 'Test sessions accept made-up data and verify no one.',
        choices: { live: 'Live', test: 'Test' },
      },
      wallet_address: {
        label: 'Wallet',
        hint: 'Restricts the session to this wallet.',
        optional: true,
        mono: true,
        maxLength: 100,
      },
      origin_url: {
        label: 'Return URL',
        optional: true,
        maxLength: 2_048,
        placeholder: 'https://app.example.com/account',
      },
    },
    run: (body) => call('POST /organizations/{organization}/sessions', { params, body }),
    done: (link) => (close) => <SendLink link={link} onClose={close} />,
  })
