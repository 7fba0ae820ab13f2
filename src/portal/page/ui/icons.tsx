// Decorative line icons, 24 by 24, in the color of the text next to them.
import type { ComponentChildren } from 'preact'

const PATHS = {
  wallet: 'M4 7.5A2.5 2.5 0 0 1 6.5 5H17v3M4 7.5V17a2 2 0 0 0 2 2h13a1 1 0 0 0 1-1V9a1 1 0 0 0-1-1H4.5M16 13.5h.01',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5c.8-3.6 3.8-5.5 7.5-5.5s6.7 1.9 7.5 5.5',
  building:
    'M5 20.5V5a1 1 0 0 1 1-1h8a1 1 0 0 1 1 1v15.5M15 9.5h3a1 1 0 0 1 1 1v10M3.5 20.5h17M8.5 8h3M8.5 11.5h3M8.5 15h3',
  document:
    'M7 3.5h7l4.5 4.5v11a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 19V5A1.5 1.5 0 0 1 7 3.5ZM14 3.5V8h4.5M8.8 12.5h6.4M8.8 16h4.4',
  clock: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 7.5V12l3 2',
  shield: 'M12 3.5l7 2.6v5.4c0 4.5-2.9 7.6-7 9-4.1-1.4-7-4.5-7-9V6.1ZM9 12l2.2 2.2L15.3 10',
  check: 'M5 12.5l4.5 4.5L19.5 7',
  cross: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  plus: 'M12 5v14M5 12h14',
  trash:
    'M5 7h14M10 7V5.2A1.2 1.2 0 0 1 11.2 4h1.6A1.2 1.2 0 0 1 14 5.2V7M7 7l.8 11.6A1.5 1.5 0 0 0 9.3 20h5.4a1.5 1.5 0 0 0 1.5-1.4L17 7M10.5 11v5M13.5 11v5',
  copy: 'M9 9V5.5A1.5 1.5 0 0 1 10.5 4h8A1.5 1.5 0 0 1 20 5.5v8a1.5 1.5 0 0 1-1.5 1.5H15M5.5 9h8A1.5 1.5 0 0 1 15 10.5v8a1.5 1.5 0 0 1-1.5 1.5h-8A1.5 1.5 0 0 1 4 18.5v-8A1.5 1.5 0 0 1 5.5 9Z',
  camera:
    'M4.5 8h3L9 5.5h6L16.5 8h3A1.5 1.5 0 0 1 21 9.5v8a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17.5v-8A1.5 1.5 0 0 1 4.5 8ZM12 16.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Z',
  file: 'M12 15.5V5M8 8.5L12 4.5l4 4M4.5 15v3A1.5 1.5 0 0 0 6 19.5h12a1.5 1.5 0 0 0 1.5-1.5v-3',
  phone:
    'M8.5 3h7A1.5 1.5 0 0 1 17 4.5v15a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 7 19.5v-15A1.5 1.5 0 0 1 8.5 3ZM11 18h2',
  pen: 'M4.5 19.5l.9-4L16 4.9a1.8 1.8 0 0 1 2.6 0l.5.5a1.8 1.8 0 0 1 0 2.6L8.5 18.6ZM14 7l3 3',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12ZM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  target: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 12h.01',
  hourglass:
    'M6.5 3.5h11M6.5 20.5h11M8 3.5v3.2c0 2.2 4 3.6 4 5.3s-4 3.1-4 5.3v3.2M16 3.5v3.2c0 2.2-4 3.6-4 5.3s4 3.1 4 5.3v3.2',
  back: 'M19 12H5.5M11 6l-6 6 6 6',
  forward: 'M5 12h13.5M13 6l6 6-6 6',
  down: 'M6 9.5l6 6 6-6',
  external: 'M13.5 4.5h6v6M19.5 4.5L11 13M17 14v4.5a1 1 0 0 1-1 1H5.5a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1H10',
  alert: 'M12 4.5l8.5 15h-17ZM12 10v4M12 16.7h.01',
  info: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 11.5V16M12 8.2h.01',
  offline:
    'M4 4l16 16M8.5 15.2A5 5 0 0 1 12 14c1.3 0 2.5.5 3.4 1.2M5.3 11.8A9.5 9.5 0 0 1 9.3 9.4M12.7 8.9c2.3.1 4.4 1.1 6 2.7M12 18.7h.01',
  globe:
    'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM3.5 12h17M12 3.5c2.5 2.3 3.6 5.2 3.6 8.5s-1.1 6.2-3.6 8.5c-2.5-2.3-3.6-5.2-3.6-8.5S9.5 5.8 12 3.5Z',
  lock: 'M7 10.5h10a1.5 1.5 0 0 1 1.5 1.5v6.5A1.5 1.5 0 0 1 17 20H7a1.5 1.5 0 0 1-1.5-1.5V12A1.5 1.5 0 0 1 7 10.5ZM8.5 10.5V8a3.5 3.5 0 0 1 7 0v2.5',
  share:
    'M7 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM17 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM17 20.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM9.2 10.8l5.6-3.3M9.2 13.2l5.6 3.3',
  turn: 'M4.5 12a7.5 7.5 0 0 1 12.8-5.3L19.5 9M19.5 4.5V9H15M19.5 12a7.5 7.5 0 0 1-12.8 5.3L4.5 15M4.5 19.5V15H9',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name, size = 24 }: { readonly name: IconName; readonly size?: number }) => (
  <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={PATHS[name]} />
  </svg>
)

export const IconTile = ({ name, tone = 'accent' }: { readonly name: IconName; readonly tone?: string }) => (
  <span class={`tile tile-${tone}`}>
    <Icon name={name} size={22} />
  </span>
)

export const ItemWithIcon = ({
  icon,
  title,
  children,
}: {
  readonly icon: IconName
  readonly title: string
  readonly children: ComponentChildren
}) => (
  <li class="item">
    <IconTile name={icon} />
    <div>
      <h3 class="item-title">{title}</h3>
      <p class="item-text">{children}</p>
    </div>
  </li>
)
