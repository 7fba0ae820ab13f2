// What is shown once: keys, links, recovery codes. It stands alone, says so, and is left only on purpose.
import { CopyButton } from './copy.tsx'
import { Notice } from './problem.tsx'

interface SecretProps {
  /** What it is, as `The key`. */
  readonly label: string
  readonly text: string
}

export const Secret = ({ label, text }: SecretProps) => (
  <div class="secret">
    <Notice tone="warn" title="Shown this once">
      <p>It is kept nowhere in a form that could be shown again. Copy it to where it belongs before you close this.</p>
    </Notice>
    <div class="secret-text">
      <textarea
        class="mono"
        readOnly
        aria-label={label}
        rows={Math.max(2, text.split('\n').length)}
        value={text}
        spellcheck={false}
        onFocus={(event) => event.currentTarget.select()}
      />
      <CopyButton text={text} label={label} words />
    </div>
  </div>
)
