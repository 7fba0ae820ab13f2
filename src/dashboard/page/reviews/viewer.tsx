// One document: an image with zoom, or a file to download. Its content is never executed.
import { addressFor } from '../api/client.ts'
import type { EvidenceDocument } from '../api/types.ts'
import { useWorkplace } from '../shell/session.ts'
import { ButtonLink, IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icons.tsx'
import { Loading } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { partWord } from './labels.ts'
import { isPicture, usePicture } from './use-picture.ts'
import { useZoom } from './use-zoom.ts'

interface ViewerProps {
  readonly sessionId: string
  readonly document: EvidenceDocument
}

const bytesWord = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1_000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`

const PictureView = ({ sessionId, document }: ViewerProps) => {
  const { url, error, retry } = usePicture(sessionId, document.id)
  const { frame, view, zoomIn, zoomOut, fit, turn, handlers } = useZoom()
  const percent = Math.round(view.scale * 100)
  return (
    <>
      <section
        ref={frame}
        class={view.scale > 1 ? 'picture picture-zoomed' : 'picture'}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard zooms and moves the image
        tabIndex={0}
        aria-label={`${partWord(document.kind)}: zoom with plus and minus, move with arrow keys`}
        {...handlers}
      >
        {error !== null ? (
          <Problem error={error} retry={retry} />
        ) : url === null ? (
          <Loading label="Opening the document" />
        ) : (
          <img
            src={url}
            alt={`${partWord(document.kind)}, ${document.file_name}`}
            draggable={false}
            class={view.turn % 180 === 0 ? undefined : 'picture-turned'}
            style={{ transform: `translate(${view.x}px, ${view.y}px) rotate(${view.turn}deg) scale(${view.scale})` }}
          />
        )}
      </section>
      <div class="picture-tools">
        <IconButton icon="minus" label="Zoom out" onClick={zoomOut} />
        <output class="picture-percent">{percent}%</output>
        <IconButton icon="plus" label="Zoom in" onClick={zoomIn} />
        <IconButton icon="fit" label="Fit to frame" onClick={fit} />
        <IconButton icon="turn" label="Rotate" onClick={turn} />
      </div>
    </>
  )
}

export const Viewer = ({ sessionId, document }: ViewerProps) => {
  const { params } = useWorkplace()
  if (isPicture(document.media_type)) return <PictureView key={document.id} sessionId={sessionId} document={document} />
  const path = { ...params, session: sessionId, document: document.id }
  return (
    <div class="picture picture-none">
      <Icon name="project" size={28} />
      <p>
        PDFs are not opened here because they can contain active content. Download the file and open it in a trusted
        viewer.
      </p>
      <ButtonLink
        icon="download"
        download=""
        href={addressFor('GET /organizations/{organization}/sessions/{session}/evidence/documents/{document}', {
          params: path,
        })}
      >
        Download, {bytesWord(document.bytes)}
      </ButtonLink>
    </div>
  )
}
