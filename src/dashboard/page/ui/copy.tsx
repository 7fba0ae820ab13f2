import { useCopy } from '../../../pages/use-copy.ts'
import { Icon } from './icons.tsx'

interface CopyButtonProps {
  readonly text: string
  readonly label: string
  /** Text of the button; without it, the button is an icon. */
  readonly words?: string
}

export const CopyButton = ({ text, label, words }: CopyButtonProps) => {
  const [copied, copy] = useCopy(text)
  return (
    <button
      type="button"
      class={words ? 'button button-secondary button-small' : 'icon-button icon-button-small'}
      aria-label={words ? undefined : `Copy ${label}`}
      title={words ? undefined : `Copy ${label}`}
      onClick={copy}
    >
      <Icon name={copied ? 'check' : 'copy'} size={words ? 16 : 15} />
      {words && <span class="button-label">{copied ? 'Copied' : words}</span>}
      <span class="sr-only" aria-live="polite">
        {copied ? 'Copied' : ''}
      </span>
    </button>
  )
}

/** Id or address in one line, shortened in the middle if it is long, but copied in full. */
export const Copyable = ({
  text,
  label,
  short = false,
}: {
  readonly text: string
  readonly label: string
  readonly short?: boolean
}) => (
  <span class="copyable">
    <code title={text}>{short ? shorten(text) : text}</code>
    <CopyButton text={text} label={label} />
  </span>
)

export const shorten = (text: string): string => (text.length <= 16 ? text : `${text.slice(0, 8)}…${text.slice(-6)}`)

/** UUIDs of the same time start alike, so only the end is shown. */
export const shortId = (id: string): string => `…${id.slice(-8)}`

export const CodeBlock = ({ code, label }: { readonly code: string; readonly label: string }) => (
  <figure class="code-block">
    <pre>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <code tabIndex={0}>{code}</code>
    </pre>
    <CopyButton text={code} label={label} words="Copy" />
  </figure>
)
