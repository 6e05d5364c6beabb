-- expand
CREATE INDEX "drex_agreements_told" ON "drex_agreements" USING btree ("network","contract",coalesce(terms ->> 'number', ''));