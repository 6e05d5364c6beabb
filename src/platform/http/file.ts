import type { RequestContext } from './route.ts'

/** A text that we compress once and send no more often than its readers make us. */
export type KeptFile = {
  readonly text: string
  readonly gzip: Uint8Array<ArrayBuffer>
  readonly etag: string
}

export const keepFile = (text: string): KeptFile => ({
  text,
  gzip: Bun.gzipSync(text),
  etag: `"${Bun.hash(text).toString(36)}"`,
})

/** Answers 304 to a reader that has it; else compressed, if the reader takes that. */
export const answerFile = (
  c: RequestContext,
  { text, gzip, etag }: KeptFile,
  own: Readonly<Record<string, string>>,
): Response => {
  const headers = { ...own, 'Cache-Control': 'no-cache', ETag: etag, Vary: 'Accept-Encoding' }
  if (c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers })
  return /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
    ? new Response(gzip, { headers: { ...headers, 'Content-Encoding': 'gzip' } })
    : new Response(text, { headers })
}
