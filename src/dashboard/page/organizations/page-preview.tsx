// A preview, because the real verification page is on another listener and can't be embedded.
import { useEffect, useState } from 'preact/hooks'
import { accentFor, cssColor, parseColor } from '../../../pages/accent.ts'
import { formatDays, formatWait } from '../../../pages/lengths.ts'
import { addressFor } from '../api/client.ts'
import type { Brand } from '../api/types.ts'
import { useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'

const LOCALE = 'en-GB'

interface PreviewProps extends Pick<Brand, 'logo_version' | 'privacy_url' | 'support_email' | 'usual_wait_seconds'> {
  readonly color: string
  /** Selected file, which replaces the saved logo. */
  readonly logo: File | null
  readonly words: string
}

const useFileUrl = (file: File | null): string | null => {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    if (file === null) {
      setUrl(null)
      return
    }
    const made = URL.createObjectURL(file)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [file])
  return url
}

const colorsOf = (color: string): Record<string, string> => {
  const rgb = parseColor(color)
  if (rgb === null) return {}
  const [light, dark] = [accentFor(rgb, 'light'), accentFor(rgb, 'dark')]
  return {
    '--preview-fill': `light-dark(${cssColor(light.fill)}, ${cssColor(dark.fill)})`,
    '--preview-on-fill': `light-dark(${cssColor(light.onFill)}, ${cssColor(dark.onFill)})`,
    '--preview-text': `light-dark(${cssColor(light.text)}, ${cssColor(dark.text)})`,
  }
}

export const PagePreview = (props: PreviewProps) => {
  const { organization, params } = useWorkplace()
  const { name } = organization
  const chosen = useFileUrl(props.logo)
  const retention = useRead('GET /organizations/{organization}/evidence-retention', { params })
  const saved =
    props.logo_version === null
      ? null
      : addressFor('GET /organizations/{organization}/brand/logo', { params, query: { version: props.logo_version } })
  const logo = chosen ?? saved
  return (
    <figure class="page-preview" style={colorsOf(props.color)} aria-label="Preview of the verification page">
      <div class="preview-head">
        {logo === null ? (
          <span class="preview-initial" aria-hidden="true">
            {[...name][0]?.toLocaleUpperCase()}
          </span>
        ) : (
          <img class="preview-logo" src={logo} alt={`Logo of ${name}`} />
        )}
        <span>
          <strong>{name}</strong>
          <small>Identity verification</small>
        </span>
      </div>
      <p class="preview-title">{name} asks you to verify your identity</p>
      {props.words !== '' && (
        <blockquote>
          <small>Message from {name}</small>
          {props.words}
        </blockquote>
      )}
      {props.usual_wait_seconds !== null && (
        <p>The review usually takes about {formatWait(props.usual_wait_seconds, LOCALE)}.</p>
      )}
      {retention.value !== null && (
        <p>
          Kept for {formatDays(retention.value.completed_days, LOCALE)} after you are verified,{' '}
          {formatDays(retention.value.rejected_days, LOCALE)} after a rejection.
        </p>
      )}
      <span class="preview-start">Start</span>
      {props.support_email !== null && (
        <p class="preview-link">
          Questions? Contact {name}: {props.support_email}
        </p>
      )}
      {props.privacy_url !== null && <p class="preview-link">Privacy policy of {name}</p>}
    </figure>
  )
}
