import { askGateway, curlOf, type Demo, type DemoGateway } from '#src/platform/lifecycle/index.ts'

const body = JSON.stringify({
  key: '123e4567-e12b-12d1-a456-426655440000',
  name: 'Fulano de Tal',
  city: 'BRASILIA',
  amount: '10.00',
})

/** Writes a static code through the public interface. */
export const qrcodeDemo = async ({ httpUrl, apiKey }: DemoGateway): Promise<Demo> => {
  const url = `${httpUrl}/v1/qrcodes/static`
  const authorization = `Bearer ${apiKey}`
  const response = await askGateway(url, {
    method: 'POST',
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    body,
  })
  const output = await response.text()
  if (!response.ok) throw new Error(`writing a code failed with ${response.status}: ${output}`)
  return {
    title: 'A static PIX code',
    command: `${curlOf(url)} -H 'Authorization: ${authorization}' -H 'Content-Type: application/json' -d '${body}' ${url}`,
    output,
  }
}
