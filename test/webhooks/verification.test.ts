import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyOfSecret, signatures } from '../../src/webhooks/signing.ts'
import { root } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/* The functions of docs/webhooks.md, each run by its own language over signatures of ours. */

setDefaultTimeout(120_000)

const page = readFileSync(join(root, 'docs/webhooks.md'), 'utf8')

const functionIn = (language: string): string =>
  new RegExp(`^\`\`\`${language} verify\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? ''

const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const other = 'whsec_b3RoZXJvdGhlcm90aGVyb3RoZXI='
const id = 'evt_1'
const body = '{"data":{"name":"Conceição"}}'
/** Far enough from the end of the tolerance that a slow start of a compiler does not matter. */
const nowSeconds = Math.floor(Date.now() / 1000)

const signed = (secrets: readonly string[], atSeconds: number): string =>
  signatures(secrets.map(keyOfSecret), id, atSeconds, body)

/** Id, timestamp, signature, body, and whether it is ours. */
const cases: readonly (readonly [string, string, string, string, boolean])[] = [
  [id, `${nowSeconds}`, signed([secret], nowSeconds), body, true],
  [id, `${nowSeconds}`, signed([other, secret], nowSeconds), body, true],
  [id, `${nowSeconds}`, signed([other], nowSeconds), body, false],
  [id, `${nowSeconds}`, signed([secret], nowSeconds), body.replace('data', 'date'), false],
  ['evt_2', `${nowSeconds}`, signed([secret], nowSeconds), body, false],
  [id, `${nowSeconds - 1}`, signed([secret], nowSeconds), body, false],
  [id, `${nowSeconds - 3600}`, signed([secret], nowSeconds - 3600), body, false],
  [id, `${nowSeconds + 3600}`, signed([secret], nowSeconds + 3600), body, false],
  [id, `${nowSeconds}`, signed([secret], nowSeconds).replace('v1,', 'v2,'), body, false],
  [id, `${nowSeconds}`, 'v1,', body, false],
  [id, `${nowSeconds}`, '-', body, false],
  [id, 'soon', signed([secret], nowSeconds), body, false],
]

const directory = temporaryDirectory()
writeFileSync(join(directory, 'cases'), cases.map((one) => one.slice(0, 4).join('\n')).join('\n'))

const verdicts = (command: readonly string[]): readonly boolean[] => {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...command], {
    cwd: directory,
    env: { ...process.env, SECRET: secret, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' },
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => line === 'true')
}

const wanted = cases.map((one) => one[4])

const write = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text)
  return name
}

const missing = (tool: string): string => (Bun.which(tool) === null ? ` [skipped: no ${tool}]` : '')

test('TypeScript', () => {
  write('verify.ts', functionIn('ts'))
  const main = write(
    'main.ts',
    `import { readFileSync } from 'node:fs'
import { isSigned } from './verify.ts'
const lines = readFileSync('cases', 'utf8').split('\\n')
for (let at = 0; at < lines.length; at += 4) {
  const [id, timestamp, signature, body] = lines.slice(at, at + 4)
  const headers = new Headers({ 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature })
  console.log(isSigned(process.env.SECRET, headers, body))
}`,
  )
  expect(verdicts([process.execPath, main])).toEqual(wanted)
})

test.skipIf(Bun.which('python3') === null)(`Python${missing('python3')}`, () => {
  const main = write(
    'main.py',
    `${functionIn('python')}
import os
lines = open("cases", encoding="utf8").read().split("\\n")
for at in range(0, len(lines), 4):
    names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
    headers = dict(zip(names, lines[at:at + 3]))
    print(str(is_signed(os.environ["SECRET"], headers, lines[at + 3].encode())).lower())
`,
  )
  expect(verdicts(['python3', main])).toEqual(wanted)
})

test.skipIf(Bun.which('go') === null)(`Go${missing('go')}`, () => {
  write('verify.go', functionIn('go'))
  write(
    'main.go',
    `package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	text, _ := os.ReadFile("cases")
	lines := strings.Split(string(text), "\\n")
	for at := 0; at < len(lines); at += 4 {
		headers := http.Header{}
		headers.Set("webhook-id", lines[at])
		headers.Set("webhook-timestamp", lines[at+1])
		headers.Set("webhook-signature", lines[at+2])
		fmt.Println(isSigned(os.Getenv("SECRET"), headers, []byte(lines[at+3])))
	}
}
`,
  )
  expect(verdicts(['go', 'run', 'main.go', 'verify.go'])).toEqual(wanted)
})

test.skipIf(Bun.which('javac') === null)(`Java${missing('javac')}`, () => {
  const [imports = '', type = ''] = functionIn('java').split(/(?=^final class)/m)
  const main = write(
    'Main.java',
    `import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
${imports}
final class Main {
    public static void main(String[] arguments) throws Exception {
        List<String> lines = Files.readAllLines(Path.of("cases"));
        for (int at = 0; at < lines.size(); at += 4) {
            Map<String, String> headers = Map.of(
                "webhook-id", lines.get(at), "webhook-timestamp", lines.get(at + 1),
                "webhook-signature", lines.get(at + 2));
            byte[] body = lines.get(at + 3).getBytes(StandardCharsets.UTF_8);
            System.out.println(Webhooks.isSigned(System.getenv("SECRET"), headers, body));
        }
    }
}

${type}`,
  )
  expect(verdicts(['java', '-XX:TieredStopAtLevel=1', main])).toEqual(wanted)
})
