// What is shown once: keys, links, recovery codes. It stands alone, says so, and is left only on purpose.
import type { ComponentChildren } from 'preact'
import { Button } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { Notice } from './problem.tsx'

interface SecretProps {
  /** What it is, as `The key`. */
  readonly label: string
  readonly text: string
}

/** In a dialog that is left only on purpose. */
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

interface SecretDialogProps extends SecretProps {
  readonly title: string
  /** What it is for, and who may have it. */
  readonly lead?: ComponentChildren
  readonly onClose: () => void
}

/** The one moment in which a secret is seen: only the button that says so closes it. */
export const SecretDialog = ({ title, lead, label, text, onClose }: SecretDialogProps) => (
  <Dialog title={title}>
    {lead !== undefined && (
      <div class="confirm-text">
        <p>{lead}</p>
      </div>
    )}
    <Secret label={label} text={text} />
    <div class="form-actions">
      <Button kind="primary" onClick={onClose}>
        I have copied it
      </Button>
    </div>
  </Dialog>
)
