// Takes a photograph with a computer's camera; phones use their camera app. Loaded when first opened.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { DocumentKind } from '../../../domain/requirements.ts'
import { useMessages } from '../language.ts'
import { Button, Notice } from '../ui/parts.tsx'

export interface CameraProps {
  readonly kind: DocumentKind
  readonly onPhoto: (photo: Blob) => void
  readonly onFile: () => void
  readonly onClose: () => void
}

const QUALITY = 0.9
const WIDTH_IDEAL = 1_920

const takePicture = (video: HTMLVideoElement): Promise<Blob | null> => {
  const canvas = document.createElement('canvas')
  canvas.width = video.videoWidth
  canvas.height = video.videoHeight
  canvas.getContext('2d')?.drawImage(video, 0, 0)
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', QUALITY))
}

export const Camera = ({ kind, onPhoto, onFile, onClose }: CameraProps) => {
  const { camera, common, documents } = useMessages()
  const dialog = useRef<HTMLDialogElement>(null)
  const video = useRef<HTMLVideoElement>(null)
  const [facing, setFacing] = useState<'user' | 'environment'>(kind === 'portrait' ? 'user' : 'environment')
  const [several, setSeveral] = useState(false)
  const [running, setRunning] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [photo, setPhoto] = useState<{ readonly blob: Blob; readonly url: string } | null>(null)
  const face = kind === 'portrait'

  useEffect(() => {
    dialog.current?.showModal()
  }, [])

  useEffect(() => {
    let stream: MediaStream | null = null
    let gone = false
    setRunning(false)
    const start = async (): Promise<void> => {
      try {
        const opened = await navigator.mediaDevices.getUserMedia({
          audio: false,
          video: { facingMode: facing, width: { ideal: WIDTH_IDEAL } },
        })
        stream = opened
        if (gone || video.current === null) {
          for (const track of opened.getTracks()) track.stop()
          return
        }
        video.current.srcObject = opened
        await video.current.play()
        setRunning(true)
        const devices = await navigator.mediaDevices.enumerateDevices()
        setSeveral(devices.filter((device) => device.kind === 'videoinput').length > 1)
      } catch (error) {
        if (gone) return
        const refused = error instanceof DOMException && error.name === 'NotAllowedError'
        setProblem(refused ? camera.refused : camera.missing)
      }
    }
    void start()
    return () => {
      gone = true
      for (const track of stream?.getTracks() ?? []) track.stop()
    }
  }, [facing, camera])

  useEffect(
    () => () => {
      if (photo !== null) URL.revokeObjectURL(photo.url)
    },
    [photo],
  )

  const shoot = async (): Promise<void> => {
    if (video.current === null) return
    const blob = await takePicture(video.current)
    if (blob !== null) setPhoto({ blob, url: URL.createObjectURL(blob) })
  }

  return (
    <dialog class="camera" ref={dialog} aria-label={camera.title} onClose={onClose}>
      <div class="camera-head">
        <h2>{camera.title}</h2>
        <Button kind="quiet" icon="cross" onClick={onClose}>
          {common.close}
        </Button>
      </div>
      {problem !== null ? (
        <Notice tone="warn" urgent>
          <p>{problem}</p>
        </Notice>
      ) : (
        <div class={`viewfinder${face ? ' viewfinder-face' : ''}`}>
          <video ref={video} playsInline muted class={facing === 'user' ? 'mirrored' : ''} hidden={photo !== null} />
          {photo !== null && <img src={photo.url} alt={camera.preview} />}
          {photo === null && <span class="guide" aria-hidden="true" />}
        </div>
      )}
      <p class="camera-hint" role="status">
        {problem !== null
          ? ''
          : photo !== null
            ? camera.sharp
            : running
              ? face
                ? camera.face
                : camera.hold
              : camera.starting}
      </p>
      <div class="camera-actions">
        {photo === null ? (
          <>
            {several && problem === null && (
              <Button kind="quiet" icon="turn" onClick={() => setFacing(facing === 'user' ? 'environment' : 'user')}>
                {camera.turn}
              </Button>
            )}
            {problem === null ? (
              <Button kind="primary" icon="camera" busy={!running} onClick={() => void shoot()}>
                {camera.shoot}
              </Button>
            ) : (
              <Button kind="primary" icon="file" onClick={onFile}>
                {documents.chooseFile}
              </Button>
            )}
          </>
        ) : (
          <>
            <Button kind="secondary" onClick={() => setPhoto(null)}>
              {camera.again}
            </Button>
            <Button kind="primary" icon="check" onClick={() => onPhoto(photo.blob)}>
              {camera.use}
            </Button>
          </>
        )}
      </div>
    </dialog>
  )
}
