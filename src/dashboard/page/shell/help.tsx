import { useState } from 'preact/hooks'
import { Dialog } from '../ui/dialog.tsx'
import { CheckField } from '../ui/field.tsx'
import { Key } from '../ui/parts.tsx'
import { keepShortcuts, shortcutsEnabled } from './preferences.ts'
import { FIND_KEYS, listShortcuts, type Shortcut } from './shortcuts.ts'

const ALWAYS: readonly Pick<Shortcut, 'keys' | 'label' | 'group'>[] = [
  { keys: FIND_KEYS, label: 'Find anything', group: 'Everywhere' },
  { keys: 'j', label: 'Next row', group: 'Everywhere' },
  { keys: 'k', label: 'Previous row', group: 'Everywhere' },
]

export const Help = ({ onClose }: { readonly onClose: () => void }) => {
  const [enabled, setEnabled] = useState(shortcutsEnabled)
  const all = [...ALWAYS, ...listShortcuts()]
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
      <div class="shortcuts">
        {(['Everywhere', 'Go to', 'This page'] as const).map((group) => {
          const listed = all.filter((shortcut) => shortcut.group === group)
          if (listed.length === 0) return null
          return (
            <section key={group}>
              <h3>{group}</h3>
              <dl>
                {listed.map(({ keys, label }) => (
                  <div key={keys + label}>
                    <dt>{label}</dt>
                    <dd>
                      {keys.split(' ').map((key) => (
                        <Key key={key}>{key}</Key>
                      ))}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          )
        })}
      </div>
      <CheckField
        label="Single-key shortcuts"
        hint="Turn this off if your screen reader or speech input uses these keys."
        checked={enabled}
        onChecked={(checked) => {
          keepShortcuts(checked)
          setEnabled(checked)
        }}
      />
    </Dialog>
  )
}
