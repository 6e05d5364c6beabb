import { askGateway, curlOf, type Demo, type DemoGateway } from '#src/platform/lifecycle/index.ts'
import { samples } from './samples.ts'

const sample = samples['pacs.008']

/** Transforms a sample message through the public interface. */
export const transformDemo = async (gateway: DemoGateway): Promise<Demo> => {
  const path = await gateway.writeSample('pacs008.xml', sample)
  const url = `${gateway.httpUrl}/v1/transform/pacs008`
  const authorization = `Bearer ${gateway.apiKey}`
  const response = await askGateway(url, {
    method: 'POST',
    headers: { Authorization: authorization, 'Content-Type': 'application/xml' },
    body: sample,
  })
  const output = await response.text()
  if (!response.ok) throw new Error(`the transformation failed with ${response.status}: ${output}`)
  return {
    title: 'A pacs.008 becomes a PIX payment',
    command: `${curlOf(url)} -H 'Authorization: ${authorization}' -H 'Content-Type: application/xml' --data-binary @${path} ${url}`,
    output,
  }
}
