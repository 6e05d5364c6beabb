/** A stream of server-sent events. */
export type Stream = {
  /** A block of lines with the empty one after it. A reader that is slower than our writes is ended. */
  readonly write: (block: string) => void
  /** @param last is written before, where there is room for it */
  readonly end: (last?: string) => void
}

/** The most blocks that wait for a slow reader. */
const blocksMax = 16
/** Milliseconds after which a browser comes back. */
const retry = 'retry: 1000\n\n'

/** @param onEnd called once, whether this side ends it or the browser goes away */
export const openStream = (
  onEnd: () => void,
): { readonly body: ReadableStream<Uint8Array>; readonly stream: Stream } => {
  const encoder = new TextEncoder()
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const left = (): void => {
    if (controller === undefined) return
    controller = undefined
    onEnd()
  }
  const room = (): number => controller?.desiredSize ?? 0
  const end = (last?: string): void => {
    if (last !== undefined && room() > 0) controller?.enqueue(encoder.encode(last))
    // A broken stream has no size, and refuses to be closed.
    if (controller?.desiredSize !== null) controller?.close()
    left()
  }
  const write = (block: string): void => {
    if (room() > 0) controller?.enqueue(encoder.encode(block))
    else end()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given
        given.enqueue(encoder.encode(retry))
      },
      cancel: left,
    },
    { highWaterMark: blocksMax },
  )
  return { body, stream: { write, end } }
}
