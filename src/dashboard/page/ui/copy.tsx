// Texts that are meant to be taken along: ids, hashes, keys, commands.
import { useCopy } from '../../../pages/use-copy.ts'
import { Icon } from './icons.tsx'

interface CopyButtonProps {
  readonly text: string
  /** What is copied, for people who do not see what it stands beside. */
  readonly label: string
  /** With words, not as a mark alone. */
  readonly words?: boolean
}

export const CopyButton = ({ text, label, words = false }: CopyButtonProps) => {
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
      {words && <span class="button-label">{copied ? 'Copied' : 'Copy'}</span>}
      <span class="sr-only" aria-live="polite">
        {copied ? 'Copied' : ''}
      </span>
    </button>
  )
}

/** An id or an address in one line, shortened in the middle where it is long, whole when copied. */
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

/** Start and end: enough to recognise it by. */
export const shorten = (text: string): string => (text.length <= 16 ? text : `${text.slice(0, 8)}…${text.slice(-6)}`)

/** Commands and documents, to be copied whole. */
export const CodeBlock = ({ code, label }: { readonly code: string; readonly label: string }) => (
  <figure class="code-block">
    <pre>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
      <code tabIndex={0}>{code}</code>
    </pre>
    <CopyButton text={code} label={label} words />
  </figure>
)
