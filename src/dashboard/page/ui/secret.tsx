// Secrets that are shown once: keys, links, recovery codes.
import type { ComponentChildren } from 'preact'
import { Button } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { Notice } from './problem.tsx'

interface SecretProps {
  readonly label: string
  readonly text: string
}

export const Secret = ({ label, text }: SecretProps) => (
  <div class="secret">
    <Notice tone="warn" title="Shown only once">
      <p>It can’t be shown again. Copy it before you close this dialog.</p>
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
      <CopyButton text={text} label={label} words="Copy" />
    </div>
  </div>
)

interface SecretDialogProps extends SecretProps {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly onClose: () => void
}

/** Only the button closes this dialog. */
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
        Done
      </Button>
    </div>
  </Dialog>
)
