/** What a feature's demonstration may use: the running gateway, seen from outside. */
export type DemoGateway = {
  readonly httpUrl: string
  readonly cardsUrl: string
  readonly apiKey: string
  /** Writes a sample beside the state of `dev` and gives the path a shell command can use. */
  readonly writeSample: (name: string, content: string | Uint8Array) => Promise<string>
}

/** One real operation, done through the public interface at the start of `trilho dev`. */
export type Demo = {
  readonly title: string
  /** The command that does the same when pasted in a shell. */
  readonly command: string
  /** What it answered. */
  readonly output: string
}

/**
 * Asks the gateway of this process, as its user on this machine does. A certificate names the host that callers know,
 * and not this address.
 */
export const askGateway = (url: string, request: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...request, proxy: false, tls: { rejectUnauthorized: false } })

/** The command that asks as {@link askGateway} does. */
export const curlOf = (url: string): string => (url.startsWith('https:') ? 'curl -sk' : 'curl -s')
