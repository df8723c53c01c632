# The viewer's page. What is built of it is committed, so that only a change of it needs node.

.PHONY: viewer check-viewer test-viewer screenshots

viewer: ## build the viewer's page from viewer/src into crates/locktrace/assets
	scripts/viewer.sh build

check-viewer:
	scripts/viewer.sh check

# Another program than build/bin/locktrace.
LOCKTRACE ?=

test-viewer: check-viewer $(if $(LOCKTRACE),,tools) ## the viewer's page in a browser, about two minutes
	LOCKTRACE=$(LOCKTRACE) scripts/viewer.sh test

screenshots: tools ## take the pictures of docs/viewer.md and the README again
	scripts/viewer.sh screenshots
