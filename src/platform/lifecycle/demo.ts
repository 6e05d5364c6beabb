/** The running gateway, seen from outside, for the demonstration of a feature. */
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
  /** The command's answer. */
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

/**
 * Calls the gateway as a user would.
 *
 * @param wanted the only status that is not an error; any of success when absent
 * @returns the answer, and the command that does the same
 */
export const callGateway = async (
  apiKey: string,
  method: 'GET' | 'POST' | 'PUT',
  url: string,
  body?: object,
  wanted?: number,
): Promise<Pick<Demo, 'command' | 'output'>> => {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const response = await askGateway(url, {
    method,
    headers: {
      Authorization: `Bearer ${apiKey}`,
      ...(text === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(text === undefined ? {} : { body: text }),
  })
  const output = await response.text()
  if (wanted === undefined ? !response.ok : response.status !== wanted) {
    throw new Error(`${method} ${url} was answered ${response.status}: ${output}`)
  }
  // With a body, curl posts unless an option tells otherwise.
  const isTold = method === 'PUT' || (method === 'POST' && text === undefined)
  const data = text === undefined ? '' : ` -H 'Content-Type: application/json' -d '${text}'`
  const told = isTold ? ` -X ${method}` : ''
  return {
    command: `${curlOf(url)} -H 'Authorization: Bearer ${apiKey}'${told}${data} ${url.includes('?') ? `'${url}'` : url}`,
    output,
  }
}
