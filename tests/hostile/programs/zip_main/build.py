# launch: sh -c "python build.py && python app.zip one"
"""The program is a zip file with a __main__ and a module, made by zipfile with fixed dates."""
import zipfile

with zipfile.ZipFile("app.zip", "w") as archive:
    for name in ("__main__.py", "loops.py"):
        archive.writestr(zipfile.ZipInfo(name), open(f"pack/{name}").read())
