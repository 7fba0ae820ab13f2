// Zooms and pans an image. A trackpad pinch arrives as a wheel event with Ctrl.
import { useEffect, useRef, useState } from 'preact/hooks'

interface View {
  readonly scale: number
  /** Offset of the image center from the frame center, in CSS pixels. */
  readonly x: number
  readonly y: number
  readonly turn: 0 | 90 | 180 | 270
}

const FITTED: View = { scale: 1, x: 0, y: 0, turn: 0 }
const SCALE_MAX = 8
const STEP = 1.4
const PAN_PIXELS = 60

const clamp = (value: number, limit: number): number => Math.min(Math.max(value, -limit), limit)

/** Limits the offset to half a frame beyond the enlarged part; zero while the image fits. */
const within = (view: View, frame: HTMLElement | null): View => {
  const scale = Math.min(Math.max(view.scale, 1), SCALE_MAX)
  const room = scale === 1 ? 0 : (scale - 1) / 2 + 0.25
  const { clientWidth = 0, clientHeight = 0 } = frame ?? {}
  return { ...view, scale, x: clamp(view.x, clientWidth * room), y: clamp(view.y, clientHeight * room) }
}

export const useZoom = () => {
  const frame = useRef<HTMLElement>(null)
  const [view, setView] = useState(FITTED)
  const change = (next: (before: View) => View): void => setView((before) => within(next(before), frame.current))

  /** Zooms around a point, relative to the frame center, that stays in place. */
  const zoom = (factor: number, x = 0, y = 0): void =>
    change((before) => {
      const scale = Math.min(Math.max(before.scale * factor, 1), SCALE_MAX)
      const ratio = scale / before.scale
      return { ...before, scale, x: x - (x - before.x) * ratio, y: y - (y - before.y) * ratio }
    })
  const fromMiddle = ({ clientX, clientY }: { clientX: number; clientY: number }): readonly [number, number] => {
    const box = frame.current?.getBoundingClientRect()
    return box === undefined ? [0, 0] : [clientX - box.left - box.width / 2, clientY - box.top - box.height / 2]
  }

  // The listener of an attribute would be passive, and the page would zoom too.
  useEffect(() => {
    const element = frame.current
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      zoom(Math.exp(-event.deltaY / 300), ...fromMiddle(event))
    }
    element?.addEventListener('wheel', wheel, { passive: false })
    return () => element?.removeEventListener('wheel', wheel)
  }, [])

  const pointers = useRef(new Map<number, { readonly clientX: number; readonly clientY: number }>())
  const spread = (): number => {
    const [first, second] = [...pointers.current.values()]
    return first === undefined || second === undefined
      ? 0
      : Math.hypot(first.clientX - second.clientX, first.clientY - second.clientY)
  }
  const release = (event: PointerEvent): void => void pointers.current.delete(event.pointerId)

  const press = (event: KeyboardEvent): void => {
    const pan: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [PAN_PIXELS, 0],
      ArrowRight: [-PAN_PIXELS, 0],
      ArrowUp: [0, PAN_PIXELS],
      ArrowDown: [0, -PAN_PIXELS],
    }
    const moved = pan[event.key]
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (moved !== undefined && view.scale > 1)
      change(({ x, y, ...rest }) => ({ ...rest, x: x + moved[0], y: y + moved[1] }))
    else if (event.key === '+' || event.key === '=') zoom(STEP)
    else if (event.key === '-') zoom(1 / STEP)
    else if (event.key === '0') setView(FITTED)
    else return
    event.preventDefault()
  }

  return {
    frame,
    view,
    zoomIn: () => zoom(STEP),
    zoomOut: () => zoom(1 / STEP),
    fit: () => setView(({ turn }) => ({ ...FITTED, turn })),
    turn: () => setView(({ turn }) => ({ ...FITTED, turn: ((turn + 90) % 360) as View['turn'] })),
    handlers: {
      onKeyDown: press,
      onDblClick: (event: MouseEvent) =>
        view.scale > 1 ? setView(({ turn }) => ({ ...FITTED, turn })) : zoom(2.5, ...fromMiddle(event)),
      onPointerDown: (event: PointerEvent) => {
        if (event.button !== 0) return
        pointers.current.set(event.pointerId, event)
        if (view.scale > 1) (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
      },
      onPointerMove: (event: PointerEvent) => {
        const before = pointers.current.get(event.pointerId)
        if (before === undefined) return
        const wide = spread()
        pointers.current.set(event.pointerId, event)
        if (pointers.current.size === 2) {
          if (wide > 0) zoom(spread() / wide, ...fromMiddle(event))
        } else if (view.scale > 1) {
          change(({ x, y, ...rest }) => ({
            ...rest,
            x: x + event.clientX - before.clientX,
            y: y + event.clientY - before.clientY,
          }))
        }
      },
      onPointerUp: release,
      onPointerCancel: release,
    },
  }
}
