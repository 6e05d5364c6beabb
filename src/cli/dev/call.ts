import type { Demo } from '#src/platform/lifecycle/index.ts'

/**
 * Calls the gateway as a user would.
 *
 * @param wanted the only status that is not an error; any of success when absent
 * @returns the answer, and the command that does the same
 */
export const call = async (
  apiKey: string,
  method: 'GET' | 'POST',
  url: string,
  body?: object,
  wanted?: number,
): Promise<Pick<Demo, 'command' | 'output'>> => {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const response = await fetch(url, {
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
  const bare = method === 'GET' ? '' : ' -X POST'
  const data = text === undefined ? bare : ` -H 'Content-Type: application/json' -d '${text}'`
  return { command: `curl -s -H 'Authorization: Bearer ${apiKey}'${data} ${url}`, output }
}
