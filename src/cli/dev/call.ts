import { askGateway, curlOf, type Demo } from '#src/platform/lifecycle/index.ts'

/**
 * Calls the gateway as a user would.
 *
 * @param wanted the only status that is not an error; any of success when absent
 * @returns the answer, and the command that does the same
 */
export const call = async (
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
  // With a body curl posts unless it is told otherwise.
  const isTold = method === 'PUT' || (method === 'POST' && text === undefined)
  const data = text === undefined ? '' : ` -H 'Content-Type: application/json' -d '${text}'`
  const told = isTold ? ` -X ${method}` : ''
  return {
    command: `${curlOf(url)} -H 'Authorization: Bearer ${apiKey}'${told}${data} ${url}`,
    output,
  }
}
